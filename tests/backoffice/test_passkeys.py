"""A passkey as the second step, in a real browser with a virtual authenticator."""

import time

import pytest
from playwright.sync_api import expect

from accounts.models import User
from tests.backoffice.clients import make_staff

PASSWORD = "correct horse"


@pytest.fixture
def here(live_server, settings):
    """The server's address, to which passkeys belong."""
    settings.OTP_WEBAUTHN_RP_ID = "localhost"
    settings.OTP_WEBAUTHN_ALLOWED_ORIGINS = [live_server.url]
    return live_server.url


def log_in(page, username):
    page.get_by_label("Username").fill(username)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Log in").click()


def arrive_late(route):
    """Let a file arrive so late that a button would be pressed before it, if the page didn't wait for it."""
    time.sleep(1)
    route.continue_()


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("here")
def test_passkey_is_added_and_asked_for(shop, page):
    user = make_staff(shop).user
    user.set_password(PASSWORD)
    user.save()
    session = page.context.new_cdp_session(page)
    session.send("WebAuthn.enable")
    authenticator = {
        "protocol": "ctap2",
        "transport": "internal",
        "hasResidentKey": True,
        "hasUserVerification": True,
        "isUserVerified": True,
        "automaticPresenceSimulation": True,
    }
    session.send("WebAuthn.addVirtualAuthenticator", {"options": authenticator})
    page.route("**/passkeys/texts/", arrive_late)

    page.goto("/backoffice/security/")
    log_in(page, user.username)
    page.get_by_label("Your password").fill(PASSWORD)
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("button", name="Add a passkey").click()
    expect(page.get_by_role("status")).not_to_be_empty()
    page.goto("/backoffice/security/")
    expect(page.get_by_text("Passkey of")).to_be_visible()
    assert User.objects.get(pk=user.pk).has_second_step

    page.context.clear_cookies()
    page.goto("/backoffice/catalog/product/")
    log_in(page, user.username)
    expect(page.get_by_role("heading", name="Confirm that it's you")).to_be_visible()
    page.get_by_role("button", name="Use a passkey").click()

    expect(page).to_have_url(f"{page.url.partition('/backoffice')[0]}/backoffice/catalog/product/")
