-- Another client adds columns, and writes rows with them, while this connection
-- knows the tables as they were.
-- Variables: added names the tables; log and kv are their formats.
\setenv ADDED_DATABASE :database
\set key_table :added _key
\set log_table :added _log
\setenv ADDED_KEY :key_table
\setenv ADDED_LOG :log_table
CREATE SCHEMA :added;
SET search_path = :added, public;
CREATE FOREIGN TABLE added_key (id integer NOT NULL, d numeric(10,2), t text)
  SERVER fluss OPTIONS (database_name :'database', table_name :'key_table');
CREATE FOREIGN TABLE added_log (id integer, d numeric(10,2), t text)
  SERVER fluss OPTIONS (database_name :'database', table_name :'log_table');
SELECT jsonb_build_object('table.kv.format', :'kv') AS key_format,
  jsonb_build_object('table.log.format', :'log') AS log_format \gset
SELECT interop.create_table(:'added' || ' columns key create', 'added_key', '{id}', NULL, 1, :'key_format');
SELECT interop.create_table(:'added' || ' columns log create', 'added_log', NULL, NULL, 1, :'log_format');
INSERT INTO added_key VALUES (1, 1.25, 'one'), (2, 2.25, 'two');
INSERT INTO added_log VALUES (1, 1.25, 'one'), (2, 2.25, 'two');

\! "$INTEROP" add "$ADDED_DATABASE" "$ADDED_KEY" e && "$INTEROP" add "$ADDED_DATABASE" "$ADDED_LOG" e
SELECT interop.cell(:'added' || ' columns key without it', 'TABLE added_key',
  $$VALUES (1, 9.25, 'java'), (2, 2.25, 'two')$$);
SELECT interop.cell(:'added' || ' columns log without it', 'TABLE added_log',
  $$VALUES (1, 1.25, 'one'), (2, 2.25, 'two'), (1, 9.25, 'java')$$);
-- an upsert of all columns that the session knows keeps the one that it does not
INSERT INTO added_key VALUES (1, 7.25, 'sql');
INSERT INTO added_log VALUES (3, 3.25, 'sql');
ALTER FOREIGN TABLE added_key ADD COLUMN e numeric(10,2);
ALTER FOREIGN TABLE added_log ADD COLUMN e numeric(10,2);
SELECT interop.cell(:'added' || ' columns key kept', 'TABLE added_key',
  $$VALUES (1, 7.25, 'sql', 5.25), (2, 2.25, 'two', NULL)$$);
SELECT interop.cell('added columns log', 'TABLE added_log',
  $$VALUES (1, 1.25, 'one', NULL), (2, 2.25, 'two', NULL), (1, 9.25, 'java', 5.25), (3, 3.25, 'sql', NULL)$$);
SELECT interop.cell(:'added' || ' columns log alone', 'SELECT e FROM added_log',
  $$VALUES (NULL), (NULL), (5.25), (NULL::numeric)$$);
SELECT interop.cell(:'added' || ' columns log filter', 'SELECT id FROM added_log WHERE e IS NULL',
  $$VALUES (1), (2), (3)$$);

-- the first statement that hears of a column writes it, and reads it beside the others
\! "$INTEROP" add "$ADDED_DATABASE" "$ADDED_KEY" f && "$INTEROP" add "$ADDED_DATABASE" "$ADDED_LOG" f
ALTER FOREIGN TABLE added_key ADD COLUMN f numeric(10,2);
ALTER FOREIGN TABLE added_log ADD COLUMN f numeric(10,2);
SELECT interop.run(:'added' || ' columns log written', $$INSERT INTO added_log VALUES (4, 4.25, 'sql', 6.25, 7.25)$$);
SELECT interop.run(:'added' || ' columns key written', $$INSERT INTO added_key VALUES (4, 4.25, 'sql', 6.25, 7.25)$$);
SELECT interop.cell(:'added' || ' columns key written and read', 'SELECT * FROM added_key WHERE id IN (1, 4)',
  $$VALUES (1, 9.25, 'java', 5.25, 5.25), (4, 4.25, 'sql', 6.25, 7.25)$$);
\! "$INTEROP" add "$ADDED_DATABASE" "$ADDED_KEY" g && "$INTEROP" add "$ADDED_DATABASE" "$ADDED_LOG" g
ALTER FOREIGN TABLE added_key ADD COLUMN g numeric(10,2);
ALTER FOREIGN TABLE added_log ADD COLUMN g numeric(10,2);
SELECT interop.cell(:'added' || ' columns log read', 'SELECT d, g, e, id FROM added_log WHERE id IN (1, 4)',
  $$VALUES (1.25, NULL, NULL, 1), (9.25, NULL, 5.25, 1), (9.25, NULL, 5.25, 1), (9.25, 5.25, 5.25, 1), (4.25, NULL, 6.25, 4)$$);
SELECT interop.cell(:'added' || ' columns key read', 'SELECT d, g, e, id FROM added_key WHERE id IN (1, 4)',
  $$VALUES (9.25, 5.25, 5.25, 1), (4.25, NULL, 6.25, 4)$$);
