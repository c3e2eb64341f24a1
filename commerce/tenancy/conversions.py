"""Converts columns of an account-owned table, for migrations that are not atomic."""

from collections.abc import Mapping, Sequence

from django.db import migrations

BATCH = 1000

# The policy shows one account at a time, hence the loop over accounts. Each batch is its own transaction, so that no
# customer waits long for a row. Converted rows are skipped, so an interrupted migration can be run again.
_CONVERT = """
DO $$ DECLARE shop bigint; shops bigint[]; last_id bigint;
BEGIN
    SET LOCAL ROLE commerce_resolver;
    SELECT array_agg(id) INTO shops FROM account_ids() AS id;
    RESET ROLE;
    FOREACH shop IN ARRAY COALESCE(shops, '{{}}') LOOP
        last_id := 0;
        LOOP
            PERFORM set_config('commerce.account_id', shop::text, true);
            WITH batch AS (
                SELECT id FROM {table} t
                 WHERE t.account_id = shop AND t.id > last_id AND ({is_due})
                 ORDER BY id LIMIT {batch} FOR NO KEY UPDATE
            ), converted AS (
                UPDATE {table} t SET {assignments}
                  FROM batch WHERE t.account_id = shop AND t.id = batch.id
                RETURNING t.id
            )
            SELECT max(id) INTO last_id FROM converted;
            EXIT WHEN last_id IS NULL;
            COMMIT;
        END LOOP;
    END LOOP;
    PERFORM set_config('commerce.account_id', '', true);
END $$
"""
_OBJECT = """
    {source} || COALESCE((SELECT jsonb_object_agg(name, {value})
                            FROM unnest(ARRAY[{names}]) AS name
                           WHERE jsonb_typeof({source}->name) = '{kind}'), '{{}}')
"""
_LIST = """
    COALESCE((SELECT jsonb_agg({object} ORDER BY place)
                FROM jsonb_array_elements(t.{column}) WITH ORDINALITY AS e (entry, place)), '[]')
"""
_MASKED_LIST = """
    (SELECT jsonb_agg(CASE WHEN entry->>'voucher_id' IS NULL THEN entry
                      ELSE jsonb_set(entry, '{{code}}', to_jsonb('****-****-****-' || right(entry->>'code', 4))) END
                      ORDER BY place)
       FROM jsonb_array_elements({source}) WITH ORDINALITY AS e (entry, place))
"""


def store_integers(
    table: str, *, objects: Mapping[str, Sequence[str]], lists: Mapping[str, Sequence[str]]
) -> migrations.RunSQL:
    """Convert decimal strings to numbers; in reverse, numbers to strings.

    `objects` and `lists` map columns that hold an object or a list of objects to the keys to convert.
    """
    forwards = _compose_statement(table, objects, lists, kind="string", value="({source}->>name)::bigint")
    backwards = _compose_statement(table, objects, lists, kind="number", value="{source}->>name")
    return migrations.RunSQL(forwards, backwards)


def mask_card_codes(
    table: str, *, column: str, path: Sequence[str] = (), only: str = "true"
) -> migrations.RunSQL:
    """Mask the codes of gift cards in a list of entered codes, in rows that meet the condition `only`.

    `path` leads to the list within the column. The reverse does nothing: `vouchers` still has the codes.
    """
    keys = "{" + ",".join(path) + "}"
    is_due = (
        f"{only} AND jsonb_path_exists(t.{column} #> '{keys}',"
        """ '$[*] ? (@.voucher_id != null && !(@.code starts with "****"))')"""
    )
    masked = _MASKED_LIST.format(source=f"t.{column} #> '{keys}'")
    value = f"jsonb_set(t.{column}, '{keys}', {masked})" if path else masked
    return convert_rows(table, is_due=is_due, assignments=f"{column} = {value}")


def convert_rows(table: str, *, is_due: str, assignments: str) -> migrations.RunSQL:
    """Update the rows `t` of a table that meet a condition and no longer do so afterwards. The reverse does nothing."""
    statement = _CONVERT.format(table=table, is_due=is_due, assignments=assignments, batch=BATCH)
    return migrations.RunSQL(statement, migrations.RunSQL.noop)


def _compose_statement(
    table: str,
    objects: Mapping[str, Sequence[str]],
    lists: Mapping[str, Sequence[str]],
    *,
    kind: str,
    value: str,
) -> str:
    assignments = [
        f"{column} = {_convert(f't.{column}', names, kind, value)}" for column, names in objects.items()
    ]
    for column, names in lists.items():
        entry = _convert("e.entry", names, kind, value)
        assignments.append(f"{column} = {_LIST.format(object=entry, column=column)}")
    # In lax mode, a JSON path also looks into the objects of a list.
    is_due = " OR ".join(
        f"""jsonb_path_exists(t.{column}, '$.{name} ? (@.type() == "{kind}")')"""
        for column, names in [*objects.items(), *lists.items()]
        for name in names
    )
    return _CONVERT.format(table=table, is_due=is_due, assignments=", ".join(assignments), batch=BATCH)


def _convert(source: str, names: Sequence[str], kind: str, value: str) -> str:
    quoted = ", ".join(f"'{name}'" for name in names)
    return _OBJECT.format(source=source, names=quoted, kind=kind, value=value.format(source=source))
