from .test_faults import stack, open_shop, shopping  # noqa


def test_fails(stack):
    running = stack.found()
    shop = open_shop(running)
    with shopping(shop, base_url=running.base_url) as crowd:
        crowd.wait_for_purchases(3)
        stack.run.stop()
        crowd.wait_for_purchases(6)


def test_refused(stack):
    stack.start()
    from dataclasses import replace

    running = stack.found()
    shop = replace(open_shop(running), rate_id=7777)
    with shopping(shop, base_url=running.base_url) as crowd:
        crowd.wait_for_purchases(3)
