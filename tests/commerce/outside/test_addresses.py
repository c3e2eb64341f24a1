"""Which hosts may be called: the addresses of private networks are refused."""

import socket

import pytest

from commerce.outside.addresses import AddressRefused, addresses_of, connect, is_public

PUBLIC = ["93.184.216.34", "1.1.1.1", "2606:4700::1111", "2a00:1450:4001::8a"]
NOT_PUBLIC = [
    "0.0.0.0",  # noqa: S104  an address to refuse
    "10.0.0.1",
    "100.100.100.200",
    "100.64.0.1",
    "127.0.0.1",
    "127.255.255.254",
    "168.63.129.16",
    "169.254.169.254",
    "172.16.0.1",
    "192.0.0.192",
    "192.168.1.1",
    "198.18.0.1",
    "203.0.113.1",
    "224.0.0.1",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::7f00:1",
    "::ffff:10.0.0.1",
    "::ffff:127.0.0.1",
    "64:ff9b::a9fe:a9fe",
    "2001:0:4136:e378::1",
    "2001:db8::1",
    "2002:7f00:1::1",
    "fc00::1",
    "fd00:ec2::254",
    "fe80::1",
    "fe80::1%eth0",
    "fec0::1",
    "ff02::1",
]
OTHER_SPELLINGS = ["localhost", "127.1", "0x7f000001", "2130706433", "0177.0.0.1", "\u2460\u2461\u2466.0.0.1"]


def resolve_to(monkeypatch, *answers):
    """Make the name servers return these lists of addresses, one after the other."""
    left = list(answers)

    def getaddrinfo(host, port, **kwargs):
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in left.pop(0)]

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    return left


@pytest.mark.parametrize("address", PUBLIC)
def test_address_of_the_internet_is_public(address):
    assert is_public(address)


@pytest.mark.parametrize("address", NOT_PUBLIC)
def test_address_of_anything_else_is_not_public(address):
    assert not is_public(address)


@pytest.mark.parametrize("host", OTHER_SPELLINGS)
def test_host_that_spells_the_own_machine_otherwise_is_refused(host):
    with pytest.raises(AddressRefused) as refused:
        addresses_of(host, 80)

    assert refused.value.code in {"address_not_public", "host_not_found"}


def test_host_with_one_private_address_among_public_ones_is_refused(monkeypatch):
    resolve_to(monkeypatch, ["93.184.216.34", "10.0.0.1"])

    with pytest.raises(AddressRefused) as refused:
        addresses_of("mixed.example", 443)

    assert refused.value.code == "address_not_public"


@pytest.mark.parametrize("host", ["", "a" * 64 + ".example", "no such host", "a\x00b"])
def test_host_that_is_none_is_refused(host):
    with pytest.raises(AddressRefused):
        addresses_of(host, 443)


def test_connection_is_made_to_the_address_that_was_checked(monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        unasked = resolve_to(monkeypatch, ["127.0.0.1"], ["10.0.0.1"])

        connect("rebinding.example", port, timeout_s=1, allow_private=True).close()

        assert unasked == [["10.0.0.1"]]


def test_connection_goes_on_to_the_next_address(monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        resolve_to(monkeypatch, ["127.0.0.2", "127.0.0.1"])

        with connect("two.example", port, timeout_s=1, allow_private=True) as made:
            assert made.getpeername() == ("127.0.0.1", port)


def test_connection_that_nothing_takes_raises_what_went_wrong(monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]

    with pytest.raises(ConnectionRefusedError):
        connect("127.0.0.1", port, timeout_s=1, allow_private=True)
