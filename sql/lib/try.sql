\set ECHO none
-- try(command): runs it, and tells as a warning how that went.
CREATE PROCEDURE try(command text) LANGUAGE plpgsql AS $$
DECLARE state text; message text; detail text; hint text;
BEGIN
  EXECUTE command;
  RAISE WARNING '%: accepted', command;
EXCEPTION WHEN OTHERS THEN
  GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
  RAISE WARNING '% %', state, concat_ws(' | ', message, nullif(detail, ''), nullif(hint, ''));
END $$;
\set ECHO all
