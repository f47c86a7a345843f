# Joins of readings with the state of a million sensors, on three tablet servers:
# how many requests they take, and whether the planner picks the faster way.
#
#   FLUSS_FULL_SENSORS     how many sensors (1000000)
#   FLUSS_FULL_READINGS    how many readings (1000000)
#   FLUSS_FULL_RUNS        how often each way is timed (7)
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../../t/lib";
use FlussTest;
use JSON::PP;
use List::Util qw(max min sum0);
use Test::More;
use Time::HiRes qw(sleep time);

my $sensors = $ENV{FLUSS_FULL_SENSORS} // 1_000_000;
my $readings = $ENV{FLUSS_FULL_READINGS} // 1_000_000;
my $runs = $ENV{FLUSS_FULL_RUNS} // 7;
my $joined = min(100_000, $readings);
my $patience = 1800;

my ($cluster, $session) = begin_test('full_join');
add_good_server($session, 'fluss',
	bootstrap_servers => $cluster->bootstrap,
	request_timeout => '600s',
	remote_files => "$cluster->{dir}/remote");

# ---- the tables

# The state lies on all servers, the readings in one bucket: so it is known in which
# order they come.
my $state = 'sensor_id integer NOT NULL, name text, location text, state text';
$session->value(
	"CREATE FOREIGN TABLE sensor_readings (sensor_id integer, measured_at timestamp(3),
	   temperature_c double precision, humidity_pct double precision,
	   _log_offset bigint OPTIONS (metadata 'log_offset')) SERVER fluss;
	 SELECT fluss_create_table('sensor_readings', bucket_key => '{sensor_id}', bucket_count => 1);
	 CREATE FOREIGN TABLE sensor_info ($state) SERVER fluss;
	 SELECT fluss_create_table('sensor_info', primary_key => '{sensor_id}', bucket_count => 6);
	 CREATE FOREIGN TABLE dense_info ($state) SERVER fluss;
	 SELECT fluss_create_table('dense_info', primary_key => '{sensor_id}', bucket_count => 6);
	 CREATE FOREIGN TABLE few_info ($state) SERVER fluss;
	 SELECT fluss_create_table('few_info', primary_key => '{sensor_id}', bucket_count => 1)");
my $sensor = "g, 'sensor number ' || g, 'room ' || g % 997, (ARRAY['OK', 'ERROR', 'MAINTENANCE'])[1 + g % 3]";
$session->value("INSERT INTO sensor_info SELECT $sensor FROM generate_series(1, $sensors) g", $patience);
my $fewer = $sensors / 10;
$session->value("INSERT INTO dense_info SELECT $sensor FROM generate_series(1, $fewer) g", $patience);
$session->value("INSERT INTO few_info SELECT $sensor FROM generate_series(1, 1000) g");
$session->value("SELECT setseed(0.5); INSERT INTO sensor_readings
	SELECT 1 + floor(random() * $sensors), timestamp '2026-08-04 09:00' + g * interval '1 s', g % 40, g % 100
	FROM generate_series(1, $readings) g", $patience);
my $leaders = $session->value(
	"SELECT count(DISTINCT leader) FROM fluss_buckets('sensor_info')");

# The state shall be read from snapshots that hold all of it.
sleep 30;

# ---- helpers

# What all nodes of a plan in JSON say under a key.
sub facts
{
	my ($node, $key) = @_;
	my @facts;

	if (ref $node eq 'HASH')
	{
		push @facts, $node->{$key} if exists $node->{$key};
		push @facts, facts($_, $key) for values %$node;
	}
	elsif (ref $node eq 'ARRAY') { push @facts, facts($_, $key) for @$node }
	return @facts;
}

# Requests by kind of a plan's JSON text.
sub requests
{
	my ($json) = @_;
	my %requests;

	for my $line (facts(decode_json($json), 'Fluss Requests'))
	{
		while ($line =~ /([a-z ]+?) (\d+)/g)
		{
			my ($kind, $number) = ($1, $2);
			$kind =~ s/^ +//;
			$requests{$kind} += $number;
		}
	}
	return \%requests;
}

sub median { return (sort { $a <=> $b } @_)[ $#_ / 2 ]; }

my %ways = (
	lookups => 'SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_nestloop = off;
		SET fluss_fdw.enable_lookup_join = on',
	hash => 'SET enable_hashjoin = on; SET enable_mergejoin = off; SET enable_nestloop = off;
		SET fluss_fdw.enable_lookup_join = off',
	own => 'RESET enable_hashjoin; RESET enable_mergejoin; RESET enable_nestloop;
		RESET fluss_fdw.enable_lookup_join');

# ---- requests

# The windows, made again: one ends with the row that brings it the last key that
# fits into a request.
my $batch = 8192;
my ($windows, $keys, %window) = (0, 0);
my %distinct;
for my $key (split /\n/, $session->value(
	"SELECT sensor_id FROM sensor_readings WHERE _log_offset < $joined ORDER BY _log_offset", $patience))
{
	$distinct{$key} = $window{$key} = 1;
	next if keys %window < $batch;
	$keys += keys %window;
	$windows++;
	%window = ();
}
if (%window)
{
	$keys += keys %window;
	$windows++;
}

my $join = "FROM sensor_readings r JOIN sensor_info i USING (sensor_id) WHERE r._log_offset < $joined";
$session->value($ways{lookups});
my $plan = $session->value(
	"EXPLAIN (ANALYZE, FORMAT JSON) SELECT r.temperature_c, i.state $join", $patience);
my $lookups = requests($plan)->{lookup};
like($plan, qr/Fluss Lookup Join/, "$joined readings joined with $sensors sensors by a lookup join");
cmp_ok($lookups, '<=', $leaders * $windows,
	sprintf '%d lookup requests: at most %d leaders x %d windows of %d keys, %d of %d different in all',
	$lookups, $leaders, $windows, $batch, $keys, scalar keys %distinct);
is((facts(decode_json($plan), 'Fluss Keys'))[0], $keys, "$keys keys were asked for");
is_value($session, "SELECT count(*), count(i.name), sum(r.temperature_c),
	count(*) FILTER (WHERE i.name = 'sensor number ' || r.sensor_id) $join",
	$session->value("SELECT count(*), count(*), sum(temperature_c), count(*) FROM sensor_readings WHERE _log_offset < $joined"),
	'each reading found its sensor');
$session->value($ways{own});

my $enrichment = "EXPLAIN (ANALYZE, FORMAT JSON) SELECT r.*, i.name, i.location, i.state
	FROM (SELECT sensor_id %% 1000 + 1 AS sensor_id, temperature_c FROM sensor_readings
	  WHERE _log_offset >= %d AND _log_offset < %d) r LEFT JOIN few_info i USING (sensor_id)";
my (@fetches, @lookups);
for my $from (0, map { int rand($readings - 10) } 1 .. 20)
{
	my $requests = requests($session->value(sprintf $enrichment, $from, $from + 10));
	push @fetches, $requests->{fetch} // 0;
	push @lookups, $requests->{lookup} // 0;
}
shift @fetches, shift @lookups;
cmp_ok(max(@fetches), '<=', 2, sprintf '10 readings enriched, 20 times on a warm connection: at most %d fetches', max(@fetches));
cmp_ok(max(@lookups), '<=', 1, sprintf 'and at most %d lookup', max(@lookups));

# ---- which way is faster

# Runs a query so many times this way and that, in turn, and tells which way the
# planner takes if it is free.  With as many readings as sensors both are much alike.
for my $case (
	[ 'sparse', min(1000, $readings), $sensors, 'lookups' ],
	[ 'even', $readings, $sensors, '' ],
	[ 'dense', $readings, $fewer, 'hash' ])
{
	my ($kind, $n, $all, $expected) = @$case;
	my $name = "$kind: $n readings with $all sensors";
	my $on = $kind eq 'dense' ? "dense_info i ON i.sensor_id = r.sensor_id % $fewer + 1"
	  : 'sensor_info i USING (sensor_id)';
	my $query = "SELECT count(*), sum(r.temperature_c), sum(length(i.name))
		FROM sensor_readings r JOIN $on WHERE r._log_offset < $n";
	my %plans = map { $_ => $session->value("$ways{$_}; EXPLAIN $query") } keys %ways;
	my $own = $plans{own} =~ /Fluss Lookup Join/ ? 'lookups' : 'hash';
	my (%times, %results);

	for my $run (0 .. $runs)
	{
		for my $way ($run % 2 ? qw(own lookups hash) : qw(hash lookups own))
		{
			$session->value($ways{$way});
			my $result = $session->run($query, $patience);
			$results{"$result->{out}$result->{err}"}++;
			push @{ $times{$way} }, $result->{seconds} if $run > 0;
		}
	}
	my %median = map { $_ => median(@{ $times{$_} }) } keys %times;
	my $faster = $median{lookups} < $median{hash} ? 'lookups' : 'hash';
	my $verdict = sprintf
	  '%s: the planner takes %s; medians of %d: %s by lookups, %s by hash, %s by itself',
	  $name, $own, $runs, map { sprintf '%.3f s', $median{$_} } qw(lookups hash own);

	if (!$expected) { diag($verdict) }
	else
	{
		ok($own eq $expected && $own eq $faster, $verdict)
		  or diag(join "\n", map { ($_, $plans{$_}) } sort keys %plans);
	}
	is(scalar keys %results, 1, "$name: each way gives the same") or diag(join "\n", keys %results);
}
end_test($session, 'fluss');
