"""Which part of the code gets a sample of the profile."""

import textwrap
from collections import Counter
from time import process_time

import django.db.models.query
import psycopg
import redis
import rest_framework.views

import carts.operations
import commerce.tenancy.scope
from config.stack.bench import shopping
from config.stack.bench.profiling import find_part, sampling


def test_files_belong_to_parts_of_the_code():
    parts = {
        django.db.models.query: "Django: ORM",
        django.db: "Django: database connections",
        django: "Django: requests, middleware, URLs",
        psycopg: "psycopg",
        redis: "Redis client",
        rest_framework.views: "DRF: views and serializers",
        commerce.tenancy.scope: "scopes and prepared statements",
        carts.operations: "carts",
        shopping: "",
    }

    assert {module: find_part(module.__file__) for module in parts} == parts
    assert find_part(textwrap.__file__) is None


def test_code_of_a_library_counts_for_its_caller():
    samples: Counter[str] = Counter()

    def work(until: float) -> None:
        while process_time() < until:
            textwrap.fill("text " * 1000)

    work.__code__ = work.__code__.replace(co_filename=carts.operations.__file__)

    with sampling(samples):
        work(process_time() + 0.5)

    assert samples.keys() == {"carts"}
    assert samples["carts"] >= 20
