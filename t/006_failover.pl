# Three replicas: a leader that cannot be reached, and one that is killed in the
# middle of a scan, of lookups and of an INSERT. Each goes on with the next
# leader, or is one clear error; no row is lost or written twice.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/lib";
use FlussTest;
use Test::More;
use Time::HiRes 'sleep';

my (undef, $session) = begin_test('failover');
my $cluster = FlussCluster->start('three', '--tablets', 3,
	'--set', 'default.replication.factor=3');
add_good_server($session, 'good',
	bootstrap_servers => $cluster->bootstrap,
	request_timeout => '60s',
	writer_batch_size => '4kB',
	fetch_max_bytes => '4kB');
my $rows = 5_000;
add_readings($session, 'good', 'readings', $rows);
add_readings($session, 'good', 'sink', 0);
add_info($session, 'good', 'info', 1000);

# ---- a leader that cannot be reached

# Node ids are the numbers of the tablet servers.
{
	my $hidden = $session->value("SELECT leader FROM fluss_buckets('info')");
	my ($address) = ($cluster->tablet_addresses)[$hidden];

	add_server($session, 'partly',
		bootstrap_servers => $cluster->bootstrap,
		address_map => "$address=127.0.0.1:" . closed_port());
	$session->value(
		"CREATE FOREIGN TABLE spread (id integer NOT NULL, n integer) SERVER good;
		 SELECT fluss_create_table('spread', primary_key => '{id}', bucket_count => 6);
		 INSERT INTO spread SELECT g, g FROM generate_series(1, 100) g;
		 CREATE FOREIGN TABLE spread_partly (id integer NOT NULL, n integer) SERVER partly OPTIONS (table_name 'spread')");
	my $result = $session->run(
		"SELECT count(*), bool_or(leader = $hidden), bool_or(leader <> $hidden),
		   bool_and((earliest_offset IS NULL) = (leader = $hidden)),
		   bool_and((latest_offset IS NULL) = (leader = $hidden)),
		   bool_and((row_count IS NULL) = (leader = $hidden))
		 FROM fluss_buckets('spread_partly')");
	is($result->{out} . $result->{err}, '6|t|t|t|t|t', 'fluss_buckets() shows what the others tell');
	cmp_ok($result->{seconds}, '<', 5, 'it waits for the timeout once');
	is_value(
		$session,
		"SELECT count(*), bool_and((o.log_offset IS NULL) = (b.leader = $hidden))
		 FROM fluss_offsets_at('spread_partly', 'infinity') o JOIN fluss_buckets('spread') b USING (bucket)",
		'6|t', 'so does fluss_offsets_at()');
	is_error($session->run('SELECT count(*) FROM spread_partly'), 'HV00N', 'a scan needs all of them', 5);
}

# ---- leaders that are killed

# Sends a statement, kills the leader of its table under way, and returns the
# result and the killed server's number.
sub kill_under_way
{
	my ($table, $sql) = @_;
	my $leader = $session->value("SELECT leader FROM fluss_buckets('$table')");
	my $running = FlussSession->new;

	$running->send($sql);
	ok(!$running->ready(1), "$table: under way when its leader is killed");
	$cluster->kill_tablet($leader);
	my $result = $running->finish(90);
	note(sprintf '%s: %.1f s, %s', $table, $result->{seconds},
		$result->{err} || 'no error');
	return ($result, $leader);
}

# a row each millisecond, that the kill finds it under way
my $slowly = 'pg_sleep(0.0001)';

my ($result, $leader) = kill_under_way('readings',
	"SELECT count(*), sum(temperature_c) FROM (SELECT temperature_c, $slowly FROM readings OFFSET 0) x"
);
if ($result->{errors})
{
	is_error($result, $result->{sqlstate} =~ /^HV0/ ? $result->{sqlstate} : 'HV00N',
		'the scan is one clear error');
}
else { is($result->{out}, "$rows|12497500", 'the scan goes on with the next leader'); }
is_value($session, 'SELECT count(*), sum(temperature_c) FROM readings',
	"$rows|12497500", 'the next scan is right');
$cluster->start_tablet($leader);

($result, $leader) = kill_under_way('info',
	"SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_memoize = off;
	 SELECT count(*), count(i.name), sum(i.sensor_id) FROM
	   (SELECT generate_series(0, $rows - 1) % 2000 AS id, $slowly) x LEFT JOIN info i ON i.sensor_id = x.id"
);
if ($result->{errors})
{
	is_error($result, $result->{sqlstate} =~ /^HV0/ ? $result->{sqlstate} : 'HV00N',
		'the lookups are one clear error');
}
else { is($result->{out}, "$rows|3000|1498500", 'the lookups go on with the next leader'); }
is_value($session, 'SELECT name FROM info WHERE sensor_id = 77',
	'sensor 77', 'the next lookup is right');
$cluster->start_tablet($leader);

($result, $leader) = kill_under_way('sink',
	"INSERT INTO sink (sensor_id, temperature_c)
	   SELECT g, g FROM (SELECT generate_series(0, $rows - 1) AS g, $slowly) x"
);
my $written = $session->value('SELECT count(*), count(DISTINCT sensor_id) FROM sink', 90);
my ($count, $distinct) = split /\|/, $written;
if ($result->{errors})
{
	is_error($result, $result->{sqlstate} =~ /^HV0/ ? $result->{sqlstate} : 'HV00N',
		'the INSERT is one clear error');
	cmp_ok($count, '<', $rows, 'not all of its rows are there');
}
else
{
	is($result->{err}, '', 'the INSERT goes on with the next leader');
	is($count, $rows, 'all of its rows are there');
}
is($distinct, $count, 'no row was written twice');
is_value($session, 'INSERT INTO sink (sensor_id) VALUES (-1)',
	'', 'the next INSERT works');
is_value($session, 'SELECT count(*) FROM sink WHERE sensor_id = -1',
	1, 'and writes its row once');
$cluster->start_tablet($leader);

end_test($session, 'good');
