"""The migration operation for functions that delete old rows of every account."""

from commerce.tenancy.operations import ResolverFunction

_DEFINITION = """
CREATE FUNCTION {name}(max_age interval, batch integer, passed_over integer{parameters})
RETURNS TABLE (deleted bigint, failed bigint[]) LANGUAGE plpgsql AS $$
DECLARE
    doomed record;
BEGIN
    failed := '{{}}';
    -- A CTE that is materialised runs once, whatever the plan of the deletion.
    BEGIN
        WITH doomed AS MATERIALIZED (
            SELECT {keys} FROM {table} t WHERE {condition}
             ORDER BY t.{time} OFFSET passed_over LIMIT batch {locking}
        )
        DELETE FROM {table} t USING doomed WHERE {same};
        GET DIAGNOSTICS deleted = ROW_COUNT;
        RETURN NEXT;
        RETURN;
    EXCEPTION WHEN others THEN
        deleted := 0;
    END;
    -- One of them can't be deleted: each by itself, without it.
    FOR doomed IN SELECT {keys} FROM {table} t WHERE {condition} ORDER BY t.{time} OFFSET passed_over LIMIT batch LOOP
        BEGIN
            DELETE FROM {table} t WHERE {same} AND {condition};
            deleted := deleted + FOUND::integer;
        EXCEPTION WHEN others THEN
            failed := failed || doomed.id;
        END;
    END LOOP;
    RETURN NEXT;
END $$
"""


def prune_function(
    name: str,
    *,
    table: str,
    time: str,
    columns: str,
    condition: str = "true",
    parameter: str = "",
    locking: str = "",
    is_account_owned: bool = True,
) -> ResolverFunction:
    """Create a function that deletes a batch of a table's rows older than an age, the oldest first.

    It returns how many it has deleted, and the ids of those that can't be deleted, whose number the caller passes to
    its next call, to skip them. `columns` are those that it reads. The condition calls the table `t`, and may use one
    more `parameter`.
    """
    keys = ("account_id", "id") if is_account_owned else ("id",)
    definition = _DEFINITION.format(
        name=name,
        parameters=parameter and f", {parameter}",
        table=table,
        time=time,
        keys=", ".join(f"t.{key}" for key in keys),
        same=" AND ".join(f"t.{key} = doomed.{key}" for key in keys),
        condition=f"t.{time} < statement_timestamp() - max_age AND {condition}",
        locking=locking,
    )
    types = ["interval", "integer", "integer", *([parameter.split(" ", 1)[1]] if parameter else [])]
    return ResolverFunction(
        f"{name}({', '.join(types)})",
        definition,
        access=[(table, "SELECT", columns), (table, "DELETE", "")],
    )
