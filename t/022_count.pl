# count(*) of primary key tables while tablet servers are killed, stopped and
# come back, under upserts and deletes, with KV snapshots and without: it is at
# any time the number of rows that a read finds. FLUSS_COUNT_ROUNDS is how often each
# cluster is put through it.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/lib";
use FlussTest;
use POSIX ();
use Test::More;
use Time::HiRes qw(sleep time);

my $rounds = $ENV{FLUSS_COUNT_ROUNDS} // 1;
my $keys = 1000;
my (undef, $session) = begin_test('count');

# "steady": no key comes or goes, each is updated again and again, so that the
# log is much longer than the table. "busy": keys come and go.
sub make_tables
{
	my ($server) = @_;

	for my $table (qw(steady busy))
	{
		$session->value(
			"DROP FOREIGN TABLE IF EXISTS $table, ${table}_log;
			 CREATE FOREIGN TABLE $table (id integer NOT NULL, v integer, s text) SERVER $server;
			 SELECT fluss_create_table('$table', primary_key => '{id}', bucket_count => 3);
			 CREATE FOREIGN TABLE ${table}_log (id integer, _bucket integer OPTIONS (metadata 'bucket'),
			   _log_offset bigint OPTIONS (metadata 'log_offset'), _change_type text OPTIONS (metadata 'change_type'))
			   SERVER $server OPTIONS (table_name '$table', scan_mode 'changelog');
			 INSERT INTO $table SELECT g, 0, 'row ' || g FROM generate_series(1, $keys) g", 120);
	}
	return;
}

# Writes until the table "stop" has a row. A failed statement may have been
# done in part.
my %changes = (
	steady => "INSERT INTO steady SELECT g, n, repeat('x', 200) FROM generate_series(1, $keys) g",
	busy => "INSERT INTO busy SELECT 10 * n + g, n, repeat('y', 200) FROM generate_series(1, 300) g;
			 DELETE FROM busy WHERE id IN (SELECT 10 * n + 3 * g FROM generate_series(1, 70) g);
			 INSERT INTO busy (id, v) SELECT (random() * 3000)::int, n FROM generate_series(1, 50)");

sub start_writers
{
	$session->value('TRUNCATE stop');
	return map {
		FlussSession->new->send(
			"SET client_min_messages = error; DO \$\$
			 BEGIN
			   FOR n IN 1 .. 100000 LOOP
			     EXIT WHEN EXISTS (SELECT FROM stop);
			     BEGIN $changes{$_}; EXCEPTION WHEN OTHERS THEN NULL; END;
			   END LOOP;
			 END \$\$")
	} sort keys %changes;
}

sub end_writers
{
	my (@writers) = @_;

	$session->value('INSERT INTO stop VALUES (1)');
	$_->finish(120)->{errors} and fail('a writer ends well') for @writers;
	$_->close for @writers;
	return;
}

# Counts until the end of a child process; the first wrong one, or an error.
sub count_during
{
	my ($what) = @_;
	my ($n, $wrong) = (0, '');
	my $pid = fork // die "fork: $!";

	if ($pid == 0)
	{
		my $done = eval { $what->(); 1 };

		POSIX::_exit($done ? 0 : 1);
	}
	until (waitpid($pid, 1) == $pid)
	{
		my $result = $session->run('SELECT count(*) FROM steady', 120);

		$n++;
		$wrong ||= $result->{err} || $result->{out}
		  if $result->{out} ne $keys;
		sleep 0.05;
	}
	return ($n, $wrong, $?);
}

# How the rows are counted now: by statistics alone, or by reading some.
sub way
{
	my ($table) = @_;
	my $plan = $session->value("EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) SELECT count(*) FROM $table", 120);

	return $plan !~ /Fluss Scan: count/ ? 'not at all' :
	  $plan =~ /limit scan/ ? 'read' : 'statistics';
}

# The count, a read of the rows, and a replay of the changelog agree.
sub check
{
	my ($when) = @_;

	for my $table (qw(steady busy))
	{
		my $read = $session->value(
			"SET fluss_fdw.enable_aggregate_pushdown = off; SELECT count(*) FROM $table; RESET fluss_fdw.enable_aggregate_pushdown", 120);

		is($session->value("SELECT count(*) FROM $table", 120),
			$read, "$when: the count of $table is that of its rows");
		is($session->value(
			"SELECT count(*) FROM (SELECT DISTINCT ON (id) _change_type FROM ${table}_log ORDER BY id, _log_offset DESC) x
			 WHERE _change_type <> 'delete'", 120),
			$read, "$when: as by the changes of $table");
		note("$when: $table has $read rows, the servers count "
			  . $session->value("SELECT sum(row_count) FROM fluss_buckets('$table')", 120)
			  . ', by ' . way($table));
	}
	return;
}

sub put_through
{
	my ($cluster, $name, $round) = @_;

	for my $verb ($name eq 'none' ? 'kill' : qw(kill stop))
	{
		my $when = "$name, round $round, $verb";
		my $number = $session->value(
			"SELECT leader FROM fluss_buckets('steady') WHERE leader IS NOT NULL ORDER BY bucket LIMIT 1", 120);
		my @writers = start_writers();

		sleep 1.5;
		my ($n, $wrong, $failed) = count_during(sub {
			$cluster->can("${verb}_tablet")->($cluster, $number);
			sleep 4;
			$cluster->start_tablet($number);
		});
		sleep 0.5;
		end_writers(@writers);
		is($failed, 0, "$when: the server came back");
		is($wrong, '', "$when: each of $n counts under way is right");
		check($when);
	}
	return;
}

$session->value('CREATE TABLE stop (i integer)');
for my $name (qw(snapshots none))
{
	my $cluster = FlussCluster->start("count-$name", '--tablets', 3,
		'--set', 'default.replication.factor=3',
		'--set', $name eq 'none' ? 'kv.snapshot.interval=1h' : 'kv.snapshot.interval=300ms');

	add_good_server($session, $name,
		bootstrap_servers => $cluster->bootstrap, request_timeout => '60s');
	make_tables($name);
	is(way($_), 'statistics', "$name: nobody has taken $_ over") for qw(steady busy);
	check("$name, at first");
	put_through($cluster, $name, $_) for 1 .. $rounds;
	is(way('steady'), 'read', "$name: a bucket was taken over");
	$cluster->end;
}

done_testing();
