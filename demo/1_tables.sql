-- The connection, the tables and the view. Nothing is made twice: the demo can
-- be run again. The variable "bootstrap" has the cluster's host:port list.
SET client_min_messages = warning;

CREATE EXTENSION IF NOT EXISTS fluss_fdw;

CREATE SERVER IF NOT EXISTS fluss FOREIGN DATA WRAPPER fluss_fdw
    OPTIONS (bootstrap_servers :'bootstrap');
ALTER SERVER fluss OPTIONS (SET bootstrap_servers :'bootstrap');
CREATE USER MAPPING IF NOT EXISTS FOR PUBLIC SERVER fluss;

-- The current state of each sensor: a primary key table in Fluss.
CREATE FOREIGN TABLE IF NOT EXISTS sensor_info (
    sensor_id integer,
    name      text,
    location  text,
    state     text
) SERVER fluss OPTIONS (database_name 'go_sensor_demo');

-- What the sensors measure: a log table in Fluss. The last three columns are
-- where and when Fluss stored the row.
CREATE FOREIGN TABLE IF NOT EXISTS sensor_readings (
    sensor_id         integer,
    measured_at       timestamp(3),
    temperature_c     double precision,
    humidity_pct      double precision,
    _bucket           integer     OPTIONS (metadata 'bucket'),
    _log_offset       bigint      OPTIONS (metadata 'log_offset'),
    _commit_timestamp timestamptz OPTIONS (metadata 'commit_timestamp')
) SERVER fluss OPTIONS (database_name 'go_sensor_demo');

-- Now the same tables in Fluss.
SELECT fluss_create_database('fluss', 'go_sensor_demo', if_not_exists => true);

SELECT fluss_create_table('sensor_info',
                          primary_key   => '{sensor_id}',
                          bucket_count  => 1,
                          if_not_exists => true);
SELECT fluss_create_table('sensor_readings',
                          bucket_key    => '{sensor_id}',
                          bucket_count  => 1,
                          if_not_exists => true);

-- Each reading with what is known of its sensor now.
CREATE OR REPLACE VIEW enriched_readings AS
SELECT r.sensor_id, i.name, i.location, i.state,
       r.measured_at, r.temperature_c, r.humidity_pct,
       r._bucket, r._log_offset
FROM sensor_readings r
LEFT JOIN sensor_info i USING (sensor_id);
