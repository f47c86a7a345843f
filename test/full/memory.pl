# Memory of millions of rows: written by one INSERT ... SELECT into a log and into
# a primary key table, and that table read whole, from KV snapshots.
#
#   FLUSS_FULL_MEMORY_ROWS    how many rows (10000000)
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../../t/lib";
use FlussTest;
use List::Util qw(max sum0);
use Test::More;
use Time::HiRes 'time';

my $rows = $ENV{FLUSS_FULL_MEMORY_ROWS} // 10_000_000;
my $allowed_beside = 100 * 1024;
my $patience = 3600;

my ($cluster, $session) = begin_test('full_memory');
add_good_server($session, 'fluss',
	bootstrap_servers => $cluster->bootstrap,
	request_timeout => '600s',
	remote_files => "$cluster->{dir}/remote");
my $columns = 'id integer NOT NULL, v bigint, s text';
$session->value(
	"CREATE FOREIGN TABLE log ($columns) SERVER fluss;
	 SELECT fluss_create_table('log', bucket_key => '{id}', bucket_count => 3);
	 CREATE FOREIGN TABLE keyed ($columns) SERVER fluss OPTIONS (kv_scan 'snapshot');
	 SELECT fluss_create_table('keyed', primary_key => '{id}', bucket_count => 3)");
my $cap = $session->value(
	"SELECT pg_size_bytes(current_setting('fluss_fdw.max_buffered_bytes')) / 1024");

sub mb { return sprintf '%.0f MB', $_[0] / 1024; }

# Processes that a backend has started.
sub children
{
	my ($pid) = @_;
	open my $file, '<', "/proc/$pid/task/$pid/children" or return ();
	return split ' ', <$file> // '';
}

# Runs a statement in a session of its own, which has run a small one before, and
# looks at its memory all the time. Returns its result, what the backend took more
# than before at most, and the most that all its helper programs had at once.
sub watched
{
	my ($before, $sql) = @_;
	my $watched = FlussSession->new;

	$watched->value($before, $patience);
	my $base = rss_anon_kb($watched->pid);
	my ($most, $helpers, $samples) = (0, 0, 0);
	$watched->send($sql);
	until ($watched->ready(0.02))
	{
		$most = max($most, rss_anon_kb($watched->pid) - $base);
		$helpers = max($helpers, sum0(map { rss_anon_kb($_) } children($watched->pid)));
		die "no answer within $patience seconds" if time - $watched->{started} > $patience;
		$samples++;
	}
	my $result = $watched->finish;
	note sprintf 'base %s, %d samples', mb($base), $samples;
	$watched->close;
	return ($result, $most, $helpers);
}

sub row { return "SELECT i, i * 7, 'row ' || md5(i::text) FROM (SELECT generate_series($_[0], $_[1]) i) g"; }

for my $table (qw(log keyed))
{
	my ($result, $most) = watched(
		'INSERT INTO ' . $table . ' ' . row(1, 1000),
		"INSERT INTO $table " . row(1001, $rows + 1000));

	is($result->{err}, '', sprintf '%d rows written into a %s table in %.0f s', $rows,
		$table eq 'log' ? 'log' : 'primary key', $result->{seconds});
	cmp_ok($most, '<', $cap + $allowed_beside,
		sprintf 'the backend took %s more at most: less than max_buffered_bytes (%s) and 100 MB',
		mb($most), mb($cap));
}
is_value($session, 'SELECT count(*) FROM log', $rows + 1000, 'all are there');

# What the snapshots lack comes from the changelog: little, after a while.
my $plan;
for (1 .. 10)
{
	sleep 20;
	$plan = $session->value(
		'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) SELECT count(*) FROM keyed', $patience);
	last if $plan =~ /Fluss Requests:.*\bfetch 3\b/;
}
like($plan, qr/Fluss Scan: snapshot.*Fluss Requests: fetch 3, snapshot/s, 'snapshots hold all of it')
  or diag($plan);

for my $memory ($cap, 16 * 1024)
{
	my ($result, $most, $helpers) = watched(
		"SET fluss_fdw.max_buffered_bytes = '${memory}kB'; SELECT v FROM keyed WHERE id = 1",
		'SELECT count(*), sum(id), sum(v), sum(length(s)) FROM keyed');
	my $all = $rows + 1000;

	is("$result->{out}$result->{err}",
		join('|', $all, $all * ($all + 1) / 2, $all * ($all + 1) / 2 * 7, $all * 36),
		sprintf '%d rows of a primary key table read from snapshots in %.0f s', $all, $result->{seconds});
	cmp_ok($most, '<', $memory, sprintf 'the backend took %s more at most, with max_buffered_bytes %s',
		mb($most), mb($memory));
	cmp_ok($helpers, '<', $memory, sprintf 'the helper program %s', mb($helpers));
}
end_test($session, 'fluss');
