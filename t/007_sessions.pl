# What a session keeps between two statements of a transaction: no snapshot,
# which would hold back vacuum.
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

for my $statement (
	'SELECT count(*) FROM readings',
	'SELECT count(*) FROM readings a JOIN readings b USING (sensor_id)',
	'CREATE TEMP TABLE copied ON COMMIT DROP AS SELECT * FROM readings',
	'INSERT INTO readings (sensor_id) SELECT 1 FROM readings LIMIT 1',
	"SELECT sum(latest_offset) FROM fluss_buckets('readings')",
	'DECLARE c CURSOR FOR SELECT sensor_id FROM readings; FETCH 1 FROM c; CLOSE c',
	'EXPLAIN ANALYZE SELECT * FROM readings')
{
	$watched->value("BEGIN; $statement");
	is_value($session,
		'SELECT backend_xmin IS NULL FROM pg_stat_activity WHERE pid = ' . $watched->pid,
		't', "no snapshot is kept after: $statement");
	$watched->value('COMMIT');
}

$watched->close;
end_test($session, 'good');
