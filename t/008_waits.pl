# Waits of every kind of plan and command, also in its middle: cancel,
# statement_timeout and termination end them within a second, and the next
# statement works. So does a fast shutdown of the server.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/lib";
use FlussTest;
use Test::More;
use Time::HiRes 'time';

my ($cluster, $session) = begin_test('waits');
my $other = FlussSession->new;
my $rows = 20_000;

# batches so small that a scan never has all of them
add_good_server($session, 'good',
	bootstrap_servers => $cluster->bootstrap,
	writer_batch_size => '4kB');
add_readings($session, 'good', 'readings', $rows);
add_info($session, 'good', 'info', 1000);
add_info($session, 'good', 'held', 10);
add_info($session, 'good', 'changed', 10);
$session->value(
	"CREATE FOREIGN TABLE hist (sensor_id integer NOT NULL, day text NOT NULL, v bigint) SERVER good;
	 SELECT fluss_create_table('hist', primary_key => '{sensor_id,day}', bucket_key => '{sensor_id}', bucket_count => 1);
	 INSERT INTO hist SELECT g % 10, 'day ' || g, g FROM generate_series(1, 50) g;
	 ALTER FOREIGN TABLE held OPTIONS (ADD write_mode 'commit');
	 ALTER FOREIGN TABLE readings OPTIONS (ADD fetch_max_bytes '8kB', ADD fetch_inflight '1');
	 ALTER FOREIGN TABLE info OPTIONS (ADD lookup_max_batch_size '16', ADD lookup_max_inflight_requests '4')");

# What is done before Fluss stops, what waits then, and what shows afterwards
# that all is well.
my $count = [ 'SELECT count(*) FROM readings' => $rows ];
my %waits = (
	'the middle of a scan' => {
		warm => 'BEGIN; DECLARE c CURSOR FOR SELECT temperature_c FROM readings; FETCH 10 FROM c',
		sql => 'MOVE ALL FROM c', next => $count },
	'the windows of a lookup join' => {
		warm => 'BEGIN; SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off; SET LOCAL enable_nestloop = off;
			DECLARE c CURSOR FOR SELECT name FROM readings r LEFT JOIN info i ON i.sensor_id = r.temperature_c::integer; FETCH 10 FROM c',
		sql => 'MOVE ALL FROM c', next => $count },
	'the lookups of a nested loop' => {
		warm => "BEGIN; SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off; SET LOCAL enable_material = off; SET LOCAL enable_memoize = off;
			SET LOCAL fluss_fdw.enable_lookup_join = off;
			DECLARE c CURSOR FOR SELECT name FROM generate_series(1, 999) g LEFT JOIN info i ON i.sensor_id = g; FETCH 10 FROM c",
		sql => 'MOVE ALL FROM c', next => [ 'SELECT name FROM info WHERE sensor_id = 5' => 'sensor 5' ] },
	'a prefix lookup' => {
		warm => 'SELECT count(*) FROM hist WHERE sensor_id = 1',
		sql => 'SELECT count(*) FROM hist WHERE sensor_id = 2',
		next => [ 'SELECT count(*) FROM hist WHERE sensor_id = 2' => 5 ] },
	'a whole read of a primary key table' => {
		warm => 'SELECT name FROM info WHERE sensor_id = 1',
		sql => 'SELECT count(name) FROM info',
		next => [ 'SELECT count(name) FROM info' => 1000 ] },
	'an aggregate' => {
		warm => 'SELECT sum(temperature_c) FROM readings WHERE _log_offset < 10',
		sql => 'SELECT min(_log_offset), max(_log_offset) FROM readings',
		next => [ 'SELECT min(_log_offset), max(_log_offset) FROM readings' => '0|' . ($rows - 1) ] },
	'the tail of a log' => {
		warm => 'SELECT count(*) FROM readings WHERE _log_offset < 10',
		sql => 'SELECT _log_offset FROM readings ORDER BY _log_offset DESC LIMIT 1',
		next => [ 'SELECT _log_offset FROM readings ORDER BY _log_offset DESC LIMIT 1' => $rows - 1 ] },
	'an UPDATE' => {
		warm => "UPDATE changed SET name = 'warm' WHERE sensor_id = 1",
		sql => "UPDATE changed SET name = 'changed' WHERE sensor_id = 1",
		next => [ "UPDATE changed SET name = 'next' WHERE sensor_id = 1 RETURNING name" => 'next' ] },
	'the flush of an UPDATE' => {
		warm => "BEGIN; DECLARE c CURSOR FOR SELECT * FROM changed; FETCH ALL FROM c",
		sql => "DELETE FROM changed WHERE sensor_id = 9 AND name < 'z'",
		next => [ "INSERT INTO changed VALUES (9, 'again') RETURNING name" => 'again' ] },
	'a COMMIT that writes' => {
		warm => "BEGIN; INSERT INTO held VALUES (7, 'written')",
		sql => 'COMMIT',
		next => [ "SELECT name IN ('written', 'sensor 7') FROM held WHERE sensor_id = 7" => 't' ] },
	'fluss_wait' => {
		warm => "SELECT fluss_wait('readings')",
		sql => "SELECT fluss_wait('readings', '{\"0\": 1000000}', '1 hour')",
		next => [ "SELECT fluss_wait('readings')" => 't' ] },
	'administration' => {
		warm => "SELECT count(*) FROM fluss_tables('good', 'tap_waits')",
		sql => "SELECT fluss_create_database('good', 'tap_waits', if_not_exists => true)",
		next => [ "SELECT fluss_create_database('good', 'tap_waits', if_not_exists => true)" => '' ] },
	'an import' => {
		warm => "SELECT count(*) FROM fluss_tables('good', 'tap_waits')",
		sql => 'IMPORT FOREIGN SCHEMA tap_waits FROM SERVER good INTO pg_temp',
		next => $count });

for my $wait (sort keys %waits)
{
	my ($warm, $sql, $next) = @{ $waits{$wait} }{qw(warm sql next)};

	# PostgreSQL itself has stopped that clock when it commits
	my @tried = grep { $sql ne 'COMMIT' || $_ ne 'statement_timeout' } ways_to_end();
	my %waiting = map { $_ => FlussSession->new } @tried;

	for my $way (@tried)
	{
		$waiting{$way}->value($warm);
		$waiting{$way}->value("SET statement_timeout = '300ms'")
		  if $way eq 'statement_timeout';
	}
	$cluster->freeze;
	$_->send($sql) for values %waiting;
	for my $way (reverse @tried)
	{
		my $answer = wait_ends($waiting{$way}, $other, $way, $wait);

		$waiting{$way} = FlussSession->new if $answer->{closed};
	}
	$cluster->thaw;
	for my $waiting (values %waiting)
	{
		$waiting->run('ROLLBACK');
		$waiting->value('RESET statement_timeout');
		is_value($waiting, @$next, "$wait: the next statement works");
	}
}

# ---- the whole server

SKIP:
{
	my $user = $ENV{FLUSS_PG_USER};
	skip 'it is not ours to stop', 3 unless $user && $ENV{FLUSS_PG_DATA} && $ENV{FLUSS_PG_BIN};
	my @as = $> == 0 ? ('runuser', '-u', $user, '--') : ();
	my @pg_ctl = (@as, "$ENV{FLUSS_PG_BIN}/pg_ctl", '-s', '-w', '-D', $ENV{FLUSS_PG_DATA});
	my @waiting = map { FlussSession->new } 1 .. 3;

	$_->value($waits{'the middle of a scan'}{warm}) for @waiting[ 0, 1 ];
	$waiting[2]->value($waits{'a COMMIT that writes'}{warm});
	$cluster->freeze;
	$_->send('MOVE ALL FROM c') for @waiting[ 0, 1 ];
	$waiting[2]->send('COMMIT');
	ok(!$waiting[2]->ready(0.2), 'three backends wait');
	my $start = time;
	is(system(@pg_ctl, '-m', 'fast', 'stop'), 0, 'the server shuts down');
	my $seconds = time - $start;
	$cluster->thaw;
	# with a checkpoint, and pg_ctl looks ten times a second
	cmp_ok($seconds, '<', 3, 'within a moment');
	system(@pg_ctl, '-l', $ENV{FLUSS_PG_LOG}, 'start') == 0 or die 'PostgreSQL does not start';
	$_->close for @waiting, $other, $session;
	$session = FlussSession->new;
	is_value($session, @$count, 'it starts and reads again');
}

end_test($session, 'good');
