# What a session keeps between two statements: no snapshot, which would hold
# back vacuum, and a connection only where keep_connections says so.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/lib";
use FlussTest;
use Test::More;

my ($cluster, $session) = begin_test('sessions');
add_good_server($session, 'good', bootstrap_servers => $cluster->bootstrap);
add_readings($session, 'good', 'readings', 100);
my $watched = FlussSession->new;

# ---- snapshots

$session->value(
	"CREATE FUNCTION counted() RETURNS bigint STABLE LANGUAGE plpgsql AS 'BEGIN RETURN (SELECT count(*) FROM readings); END'"
);
for my $statement (
	'SELECT count(*) FROM readings',
	'SELECT count(*) FROM readings a JOIN readings b USING (sensor_id)',
	'CREATE TEMP TABLE copied ON COMMIT DROP AS SELECT * FROM readings',
	'INSERT INTO readings (sensor_id) SELECT 1 FROM readings LIMIT 1',
	"SELECT sum(latest_offset) FROM fluss_buckets('readings')",
	'DECLARE c CURSOR FOR SELECT sensor_id FROM readings; FETCH 1 FROM c; CLOSE c',
	'EXPLAIN ANALYZE SELECT * FROM readings',
	'SELECT counted() FROM generate_series(1, 3)',
	'DO $$ BEGIN PERFORM counted(); PERFORM sum(sensor_id) FROM readings; END $$')
{
	$watched->value("BEGIN; $statement");
	is_value($session,
		'SELECT backend_xmin IS NULL FROM pg_stat_activity WHERE pid = ' . $watched->pid,
		't', "no snapshot is kept after: $statement");
	$watched->value('COMMIT');
}

# ---- connections

my $fresh = FlussSession->new;
my $none = sockets($fresh->pid);
$session->value("ALTER SERVER good OPTIONS (ADD keep_connections 'off')");

$fresh->value('SELECT count(*) FROM readings');
is(scalar sockets($fresh->pid), $none, 'closed after the statement');
$fresh->value('BEGIN; SELECT count(*) FROM readings');
cmp_ok(scalar sockets($fresh->pid), '>', $none, 'open in a transaction');
$fresh->value('SELECT 1');
cmp_ok(scalar sockets($fresh->pid), '>', $none, 'and stays so');
$fresh->value('COMMIT');
is(scalar sockets($fresh->pid), $none, 'closed after the transaction');
is_error($fresh->run('SELECT 1 / (sensor_id - 50) FROM readings'),
	'22012', 'an error');
is(scalar sockets($fresh->pid), $none, 'closed after the error');
is_error(
	$fresh->run('DO $$ BEGIN PERFORM 1 / (sensor_id - 50) FROM readings; END $$'),
	'22012', 'an error in a function');
is(scalar sockets($fresh->pid), $none, 'closed after that, too');
$fresh->value('INSERT INTO readings (sensor_id) VALUES (1)');
is(scalar sockets($fresh->pid), $none, 'closed after an INSERT');
$session->value("ALTER SERVER good OPTIONS (SET keep_connections 'on')");
$fresh->value('SELECT count(*) FROM readings');
cmp_ok(scalar sockets($fresh->pid), '>', $none, 'kept by default');

$_->close for $watched, $fresh;
end_test($session, 'good');
