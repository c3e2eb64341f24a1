-- The postgres image runs this once, on an empty data directory. It is the output of `python -m config.stack roles`,
-- with the passwords read from the container's environment.
\getenv owner_password OWNER_PASSWORD
\getenv app_password APP_PASSWORD
DO $$ BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'commerce_owner') THEN CREATE ROLE commerce_owner; END IF;
END $$;
DO $$ BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'commerce_app') THEN CREATE ROLE commerce_app; END IF;
END $$;
DO $$ BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'commerce_resolver') THEN CREATE ROLE commerce_resolver; END IF;
END $$;
ALTER ROLE commerce_owner LOGIN NOSUPERUSER NOBYPASSRLS NOCREATEDB NOCREATEROLE NOREPLICATION PASSWORD :'owner_password';
ALTER ROLE commerce_app LOGIN NOSUPERUSER NOBYPASSRLS NOCREATEDB NOCREATEROLE NOREPLICATION PASSWORD :'app_password';
ALTER ROLE commerce_resolver NOLOGIN NOSUPERUSER NOBYPASSRLS NOCREATEDB NOCREATEROLE NOREPLICATION;
ALTER ROLE commerce_app SET statement_timeout = '30s';
ALTER ROLE commerce_app SET lock_timeout = '10s';
ALTER ROLE commerce_app SET idle_in_transaction_session_timeout = '60s';
DO $$ BEGIN
    IF current_setting('server_version_num')::int >= 170000 THEN
        ALTER ROLE commerce_app SET transaction_timeout = '60s';
    END IF;
END $$;
GRANT commerce_resolver TO commerce_owner WITH INHERIT FALSE, SET TRUE;
CREATE DATABASE commerce OWNER commerce_owner TEMPLATE template0 ENCODING 'UTF8';
\connect commerce
REVOKE ALL ON DATABASE commerce FROM PUBLIC;
GRANT CONNECT ON DATABASE commerce TO commerce_owner, commerce_app;
GRANT TEMPORARY ON DATABASE commerce TO commerce_app;
REVOKE ALL ON SCHEMA public FROM PUBLIC;
GRANT ALL ON SCHEMA public TO commerce_owner;
GRANT USAGE ON SCHEMA public TO commerce_app;
GRANT USAGE, CREATE ON SCHEMA public TO commerce_resolver;
ALTER DEFAULT PRIVILEGES FOR ROLE commerce_owner IN SCHEMA public GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO commerce_app;
ALTER DEFAULT PRIVILEGES FOR ROLE commerce_owner IN SCHEMA public GRANT USAGE, SELECT ON SEQUENCES TO commerce_app;
ALTER DEFAULT PRIVILEGES FOR ROLE commerce_owner REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC;
