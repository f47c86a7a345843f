# The recipes of docs/consume.md, run as they are printed there: what workers
# consume while they, the server and Fluss are killed is every record exactly
# once; a copy of a primary key table that follows its changelog ends equal.
#
#   FLUSS_CONSUME_KILLS    how often something is killed
#   FLUSS_CONSUME_ROWS     how many records come at once, at most
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/lib";
use FlussTest;
use Test::More;
use Time::HiRes qw(sleep time);

my $seed = $ENV{FLUSS_TEST_SEED} // $$;
my $kills = $ENV{FLUSS_CONSUME_KILLS} // 50;
my $most = $ENV{FLUSS_CONSUME_ROWS} // 300;
srand $seed;
my ($cluster, $session) = begin_test('consume');
diag("seed $seed");

# ---- the page's SQL

my $page = do
{
	open my $file, '<', "$FindBin::RealBin/../docs/consume.md" or die $!;
	local $/;
	<$file>;
};

# What is indented is SQL; statements are kept apart by empty lines, outside of
# function bodies.
my @statements = ('');
for my $block ($page =~ /^((?:    .*\n|\n(?=    ))+)/gm)
{
	for my $piece (split /(\$\$|\n\n)/, $block =~ s/^    //gmr)
	{
		my $inside = (() = $statements[-1] =~ /\$\$/g) % 2;

		if ($piece eq "\n\n" && !$inside) { push @statements, '' }
		else { $statements[-1] .= $piece }
	}
	push @statements, '';
}

# The statements that begin so.
sub recipe
{
	my (@beginnings) = @_;
	my @found;

	for my $beginning (@beginnings)
	{
		my @those = grep { /\A\s*(?:CREATE )?$beginning/ } @statements;

		die "docs/consume.md has no $beginning" unless @those == 1;
		push @found, @those;
	}
	return join "\n", @found;
}

# ---- helpers

# Connects; a server that was just killed needs a moment.
sub connected
{
	my ($path) = @_;
	my $end = time + 30;

	while (1)
	{
		my $new = eval { FlussSession->new };

		if ($new)
		{
			$new->value("SET search_path = $path, public") if $path;
			return $new;
		}
		die "no connection: $@" if time > $end;
		sleep 0.1;
	}
	return;
}

sub await
{
	my ($seconds, $what) = @_;
	my $end = time + $seconds;

	while (time < $end)
	{
		return 1 if $what->();
		sleep 0.1;
	}
	return 0;
}

sub is_equal
{
	my ($left, $right, $name) = @_;

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	return is_value($session,
		"SELECT count(*) > 0 FROM ($left) x;
		 SELECT count(*) FROM ($left EXCEPT ALL $right) x;
		 SELECT count(*) FROM ($right EXCEPT ALL $left) x",
		"t\n0\n0", $name);
}

add_good_server($session, 'fluss',
	bootstrap_servers => $cluster->bootstrap,
	connect_timeout => '3s', request_timeout => '5s');

# ---- every record exactly once

$session->value(recipe(
		'FOREIGN TABLE sensor_readings',
		'TABLE readings_copy', 'TABLE readings_position',
		'FUNCTION consume_readings', 'PROCEDURE consume_forever'));
$session->value(
	"CREATE FOREIGN TABLE written (sensor_id integer, measured_at timestamp(3), temperature_c double precision,
	   humidity_pct double precision, part text) SERVER fluss OPTIONS (table_name 'sensor_readings');
	 SELECT fluss_create_table('written', bucket_key => '{sensor_id}', bucket_count => 2, partitioned_by => '{part}');
	 CREATE SEQUENCE numbers;
	 CREATE TABLE newest AS SELECT 0 AS part");

my $writing = "DO \$\$ DECLARE i bigint; BEGIN LOOP
	i := nextval('numbers');
	PERFORM pg_advisory_xact_lock_shared(1);
	INSERT INTO written SELECT g, now(), i * $most + g, g / 2.0, 'p' || part - i % 2
	FROM newest, generate_series(1, (random() * $most)::int) g;
	COMMIT;
	PERFORM pg_sleep(0.03);
	END LOOP; END \$\$";
my $job = 'CALL consume_forever()';
my %work = (writer => $writing, map { $_ => $job } 1 .. 3);
my %sessions;

sub start
{
	my ($name) = @_;

	$sessions{$name} = connected()
	  if !$sessions{$name} || $sessions{$name}{closed};
	$sessions{$name}->send($work{$name});
	return;
}

# Starts again what has ended; only these errors may have ended it.
my (%ends, @wrong);

sub restart_ended
{
	for my $name (sort keys %work)
	{
		next unless $sessions{$name}->ready(0);
		my $result = $sessions{$name}->finish;
		my $state = $result->{sqlstate} || 'lost';

		$ends{$state}++;
		push @wrong, "$name: $result->{err}"
		  unless $state =~ /^(?:57014|57P0\d|HV00[NL]|lost)$/
		  || $result->{err} =~ /NOT_LEADER|UNKNOWN_TABLE_OR_BUCKET/
		  || ($name eq 'writer' && $state =~ /^HV/);
		start($name);
	}
	return;
}

start($_) for sort keys %work;
my $began = time;

for my $round (1 .. $kills)
{
	my $victim = $sessions{ 1 + int rand 3 };

	sleep rand 0.3;
	$session->value('UPDATE newest SET part = part + 1') if $round % 12 == 0;
	if ($round % 50 == 30)
	{
		# alone, a server that crashes loses what it has just acknowledged: the
		# writer waits before its next transaction
		$session->value('SELECT pg_advisory_lock(1)');
		sleep 1.5;
		$cluster->kill_tablet;
		$cluster->start_tablet;
		$session->value('SELECT pg_advisory_unlock(1)');
	}
	elsif ($round % 10 == 5)
	{
		kill 'KILL', $victim->pid;
		sleep 0.2;
		$session = connected();
	}
	elsif ($round % 2)
	{
		$session->value("SELECT pg_terminate_backend(" . $victim->pid . ')');
		$victim->ready(5);
	}
	else
	{
		$session->value("SELECT pg_cancel_backend(" . $victim->pid . ')');
		$victim->ready(5);
	}
	restart_ended();
}
diag(sprintf 'killed %d times in %.0f s: %s', $kills, time - $began,
	join ', ', map { "$_ $ends{$_}" } sort keys %ends);

sub stop
{
	my ($name) = @_;
	my $stopped = delete $sessions{$name};

	delete $work{$name};
	$session->value('SELECT pg_terminate_backend(' . $stopped->pid . ')');
	$stopped->finish;
	$stopped->close;
	return;
}

# Nobody is killed from here on, so a late answer is only late.
$session->value("ALTER SERVER fluss OPTIONS (SET request_timeout '60s')");

# No bucket has more than was consumed.
my $left = "SELECT count(*) FROM fluss_buckets('sensor_readings') b LEFT JOIN readings_position p
	ON p.table_id = b.table_id AND p.partition_id = b.partition_id AND p.bucket = b.bucket
	WHERE b.latest_offset IS NULL OR b.latest_offset > coalesce(p.log_offset, -1) + 1";
stop('writer');
my $asked = time;
ok(await(60, sub { restart_ended(); return $session->value($left) eq '0' }),
	'all is consumed in the end');
diag(sprintf 'after %.1f s', time - $asked);
stop($_) for 1 .. 3;
is(join("\n", @wrong), '', 'workers ended by what was done to them');

my $columns = 'SELECT sensor_id, measured_at, temperature_c, humidity_pct FROM';
is_equal("$columns written", "$columns readings_copy",
	'every record is there exactly once');
is_value($session, 'SELECT count(*) = count(DISTINCT temperature_c) FROM readings_copy', 't',
	'none is there twice');
my ($partitions, $rows) = split /\|/, $session->value(
	'SELECT count(DISTINCT partition_id), (SELECT count(*) FROM readings_copy) FROM readings_position');
cmp_ok($partitions, '>', 2, "with new partitions meanwhile: $rows rows of $partitions");

# ---- a step fetches what is new

$session->value("INSERT INTO written SELECT g, now(), -g, 0, 'p0' FROM generate_series(1, 20) g");
my ($plan) = recipe('FUNCTION consume_readings') =~ /SELECT r\.\* FROM unnest\(mine\)(.*?)\) r$/ms;
$plan = $session->value(
	"EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF)
	 SELECT r.* FROM unnest(ARRAY(SELECT p FROM readings_position p)) $plan) r");
my $positions = $session->value('SELECT count(*) FROM readings_position');
unlike($plan, qr/Sort/, 'a step sorts nothing');
like($plan, qr/Fluss Limit: 10000/, 'and has a limit');
my ($fetches) = $plan =~ /Fluss Requests: fetch (\d+)/;
cmp_ok($fetches // 1e9, '<=', $positions, 'one fetch for each bucket')
  or diag($plan);
like($plan, qr/Fluss Rows Read: 20$/m, 'of nothing but the new records') or diag($plan);
is_value($session, 'SELECT consume_readings(); SELECT consume_readings()', "20\n0", 'they are consumed once');

# ---- records that are missing, a table that was made again

my $sum = $session->value('SELECT count(*), sum(temperature_c) FROM readings_copy');
$session->value('BEGIN; UPDATE readings_position SET log_offset = 1000000');
$session->value("INSERT INTO written VALUES (1, now(), -1000, 0, 'p0')");
is_error($session->run('SELECT consume_readings()'), '22023',
	'a log that ends before its position is an error');
$session->value('ROLLBACK');
is_value($session, 'SELECT consume_readings(); SELECT consume_readings()', "1\n0", 'nothing was skipped');

my $cached = FlussSession->new;
$cached->value('SELECT consume_readings()');
$session->value(
	"SELECT fluss_drop_table('written');
	 SELECT fluss_create_table('written', bucket_key => '{sensor_id}', bucket_count => 2, partitioned_by => '{part}');
	 INSERT INTO written SELECT g, now(), 1e9 + g, 0, 'p0' FROM generate_series(1, 100) g");
is_error($cached->run($job), 'HV021', 'a table that was made again ends a worker', 10);
is_error(FlussSession->new->run($job), 'HV021', 'and one that is new', 10);
is_value($session, 'SELECT count(*) FROM readings_copy WHERE temperature_c > 1e9', '0',
	'of the new table nothing is consumed before somebody looked');
my ($forget) = $page =~ /`(DELETE FROM readings_position.*?)`/s;
$session->value($forget);
$session->value("INSERT INTO readings_position SELECT table_id, partition_id, bucket FROM fluss_buckets('sensor_readings')");
is_value($session, 'SELECT consume_readings(); SELECT count(*) FROM readings_copy WHERE temperature_c > 1e9',
	"100\n100", 'then it goes on with the new one');

# ---- waiting

my $wait = "SELECT fluss_wait('sensor_readings', (SELECT jsonb_agg(p) FROM readings_position p), '%s')";
my $waiter = FlussSession->new;
my @delays;
for my $i (1 .. 5)
{
	$waiter->send(sprintf $wait, '20 s');
	sleep 0.3 + rand 0.3;
	is($waiter->ready(0), 0, 'it waits') if $i == 1;
	$session->value("INSERT INTO written VALUES ($i, now(), -1, 0, 'p0')");
	my $written = time;
	is($waiter->finish->{out}, 't', 'a record ends the wait');
	push @delays, time - $written;
	$session->value('SELECT consume_readings()');
}
@delays = sort { $a <=> $b } @delays;
cmp_ok($delays[-1], '<', 0.9,
	sprintf 'soon after it was written: %s ms', join ', ', map { int 1000 * $_ } @delays);
$waiter->send(sprintf $wait, '4 s');
sleep 0.3;
$session->value(q(SELECT fluss_create_partition('written', '{"part": "short"}'); SELECT fluss_drop_partition('written', '{"part": "p0"}')));
is($waiter->finish->{out} . $session->value('SELECT consume_readings()'), 'f0',
	'a partition that is dropped ends neither a wait nor a job');
$waiter->send(q(DO $$ BEGIN FOR i IN 1..5 LOOP
	PERFORM fluss_create_partition('written', jsonb_build_object('part', 's' || i));
	PERFORM pg_sleep(0.2);
	PERFORM fluss_drop_partition('written', jsonb_build_object('part', 's' || i));
	END LOOP; END $$));
my $failures = '';
until ($waiter->ready(0))
{
	$failures .= $session->run("SELECT count(*) FROM fluss_buckets('sensor_readings')")->{err};
}
is($waiter->finish->{err} . $failures, '', 'nor the list of buckets');
$waiter->value('SET fluss_fdw.log_requests = on; SET client_min_messages = log');
my $nothing = $waiter->run(sprintf $wait, '3 s');
my $requests = () = $nothing->{err} =~ /LOG: .* to \S+: sent \d+/g;
is($nothing->{out}, 'f', 'false when the time is up');
cmp_ok($nothing->{seconds}, '>', 2.9, 'not before');
cmp_ok($nothing->{seconds}, '<', 4, 'and not long after');
cmp_ok($requests, '>', 0, 'its requests are seen');
cmp_ok($requests, '<', 20, "it does not ask again and again: $requests requests") or diag($nothing->{err});
$waiter->send(sprintf $wait, '20 s');
sleep 0.5;
$session->value('SELECT pg_cancel_backend(' . $waiter->pid . ')');
my $cancelled = time;
is_error($waiter->finish, '57014', 'a wait can be cancelled');
cmp_ok(time - $cancelled, '<', 0.5, 'at once');
is_error($waiter->run('BEGIN ISOLATION LEVEL REPEATABLE READ; ' . sprintf($wait, '1 s')),
	'0A000', 'no wait where its scans would not see what has come');
$waiter->close;
$session->value(q(DELETE FROM readings_position p WHERE NOT EXISTS (
	SELECT FROM fluss_partitions('sensor_readings') f WHERE f.partition_id = p.partition_id)));
is_value($session, 'SELECT count(*) FROM readings_position', '0', 'its positions can be removed');

# ---- a copy that follows its table, and the state as of an event

# How the page's SQL and the tables are changed for each case.
my @cases = (
	[ 'plain', 'FULL', sub { return $_[0] }, "primary_key => '{sensor_id}', bucket_count => 3" ],
	[ 'parted', 'WAL', sub { return $_[0]
			=~ s/\((sensor_id)\)/(sensor_id, location)/gr
			=~ s/DISTINCT ON \(.*?ORDER BY sensor_id/DISTINCT ON (sensor_id, location) * FROM batch WHERE _change_type <> 'update_before'\n ORDER BY sensor_id, location/sr
			=~ s/(WHERE info_copy.sensor_id = last.sensor_id)/$1 AND info_copy.location = last.location/r
			=~ s/location = excluded.location, //r },
		"primary_key => '{sensor_id,location}', bucket_count => 2, partitioned_by => '{location}',
		 properties => '{\"table.changelog.image\": \"WAL\"}'" ]);

for my $case (@cases)
{
	my ($schema, $image, $adapt, $options) = @$case;
	my $name = "$schema, $image";
	my $changed = "DO \$\$ BEGIN FOR i IN 1..%d LOOP
		INSERT INTO sensor_info SELECT 1 + (random() * 300)::int, 'name ' || i || '.' || g, 'l' || g %% 3, 's' || i
		FROM generate_series(1, 40) g;
		DELETE FROM sensor_info WHERE sensor_id BETWEEN i * 7 %% 300 AND i * 7 %% 300 + 5;
		END LOOP; END \$\$";

	$session->value("CREATE SCHEMA $schema; SET search_path = $schema, public");
	$session->value($adapt->(recipe('FOREIGN TABLE sensor_info \(', 'FOREIGN TABLE sensor_info_changes')));
	$session->value("ALTER FOREIGN TABLE sensor_info OPTIONS (table_name 'info_$schema');
		ALTER FOREIGN TABLE sensor_info_changes OPTIONS (SET table_name 'info_$schema');
		SELECT fluss_create_table('sensor_info', $options)");
	$session->value(sprintf $changed, 5);

	my $writer = connected($schema);
	$writer->send(sprintf $changed, 40);
	sleep 0.2;
	$session->value($adapt->(recipe('TABLE info_copy', 'TABLE info_position', 'BEGIN;',
				'FUNCTION follow_info')));
	my @followers = map { connected($schema) } 1 .. 2;
	my $steps = "DO \$\$ BEGIN FOR i IN 1..100000 LOOP
		INSERT INTO info_position SELECT table_id, partition_id, bucket FROM fluss_buckets('sensor_info_changes') ON CONFLICT DO NOTHING;
		COMMIT;
		PERFORM follow_info();
		COMMIT;
		PERFORM fluss_wait('sensor_info_changes', (SELECT jsonb_agg(p) FROM info_position p), '1 s');
		COMMIT;
		END LOOP; END \$\$";
	$_->send($steps) for @followers;
	for my $i (1 .. 6)
	{
		my $victim = $followers[$i % 2];

		sleep rand 0.3;
		$session->value('SELECT pg_cancel_backend(' . $victim->pid . ')');
		my $result = $victim->finish;
		is_error($result, '57014', "$name: a follower is cancelled") if $i == 1;
		diag($result->{err}) if $result->{sqlstate} ne '57014';
		$victim->send($steps);
	}
	$writer->finish(60);
	ok(await(20, sub {
				return $session->value("SELECT count(*) FROM fluss_buckets('sensor_info_changes') b
					LEFT JOIN info_position p ON p.bucket = b.bucket AND p.partition_id IS NOT DISTINCT FROM b.partition_id
					WHERE b.latest_offset > coalesce(p.log_offset, -1) + 1") eq '0';
			}), "$name: the followers come to the end");
	$session->value("SELECT pg_terminate_backend(" . $_->pid . ')') for @followers;
	$_->finish for @followers;
	my $state = 'SELECT sensor_id, name, location, state FROM';
	is_equal("$state sensor_info", "$state info_copy", "$name: the copy ends equal");
}

# Each reading finds the state that its own value tells.
$session->value('SET search_path = plain, public');
for my $i (1 .. 4)
{
	$session->value($i == 3 ? 'DELETE FROM sensor_info WHERE sensor_id = 1000'
		: "INSERT INTO sensor_info VALUES (1000, 'n', 'l', 'state $i')");
	sleep 0.02;
	$session->value("INSERT INTO written VALUES (1000, now(), $i, 0, 'p0')");
	sleep 0.02;
}
my $as_of = recipe('WITH history') =~ s/;\s*\z//r;
is_value($session, "SELECT temperature_c, state FROM ($as_of) x WHERE sensor_id = 1000 ORDER BY 1",
	"1|state 1\n2|state 2\n3|\n4|state 4", 'each reading has the state of its time');

end_test($session, 'fluss');
