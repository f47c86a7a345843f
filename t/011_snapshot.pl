# Whole reads of a primary key table from its KV snapshots: what is read is the
# state at the pinned ends while others write, and replaying the changelog from
# there converges, by SQL and by the Java client; nothing is left behind, however
# a read ends.
#
# FLUSS_SNAPSHOT_ROWS sets the size of the table: "make full PARTS=snapshot" for two
# million rows.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/lib";
use File::Find;
use FlussTest;
use List::Util qw(max);
use Test::More;
use Time::HiRes qw(sleep time);

my $rows = $ENV{FLUSS_SNAPSHOT_ROWS} // 60000;
my ($given, $session) = begin_test('snapshot');

plan skip_all => 'the extension was built without librocksdb'
  unless reads_snapshots();

my $cluster =
  FlussCluster->start('snapshot', '--set', 'kv.snapshot.interval=2s');
my $remote = "$cluster->{dir}/remote";
my $temporary = $session->value('SHOW data_directory') . '/base/pgsql_tmp';

add_good_server($session, 'good',
	bootstrap_servers => $cluster->bootstrap,
	connect_timeout => '10s',
	request_timeout => '2min',
	remote_files => $remote);

my $columns = "id integer, v bigint, s text, _bucket integer OPTIONS (metadata 'bucket')";
$session->value(
	"CREATE FOREIGN TABLE big ($columns) SERVER good OPTIONS (kv_scan 'snapshot');
	 CREATE FOREIGN TABLE whole ($columns) SERVER good
	   OPTIONS (table_name 'big', kv_scan 'limit_scan', limit_scan_max_rows '100000000');
	 CREATE FOREIGN TABLE changes ($columns,
	   _log_offset bigint OPTIONS (metadata 'log_offset'),
	   _change_type text OPTIONS (metadata 'change_type'))
	   SERVER good OPTIONS (table_name 'big', scan_mode 'changelog');
	 SELECT fluss_create_table('big', primary_key => '{id}', bucket_count => 2)");

# ---- helpers

sub folders { return grep { /\.fluss\d+$/ } glob "$temporary/*"; }

sub nothing_is_left
{
	my ($pid, $after) = @_;
	my $end = time + 30;

	sleep 0.05 while time < $end && (helpers($pid) || folders());
	is(scalar(helpers($pid)) + scalar(folders()),
		0, "no process and no folder is left after $after");
	return;
}

sub snapshot_files
{
	my @files;
	find({ no_chdir => 1,
		   wanted => sub { push @files, $_ if -f && m{/shared/} } }, $remote);
	return @files;
}

sub await
{
	my ($what) = @_;
	my $end = time + 30;

	sleep 0.1 while time < $end && !$what->();
	return;
}

# ---- the state at the pinned ends

# The table without a snapshot: all of it comes from the changelog.
$session->value("INSERT INTO big SELECT g, 0, 'row ' || g FROM generate_series(1, 1000) g");
is_value($session, 'SELECT count(*), sum(id) FROM big', '1000|500500',
	'a table without snapshots is read from its changelog');

$session->value(
	"INSERT INTO big SELECT g, 0, 'row ' || g FROM generate_series(1, $rows) g", 600);
await(sub { return snapshot_files() > 0 });

my $writer = FlussSession->new;
my $small = int($rows / 20);
$writer->send(
	"DO \$\$ BEGIN FOR i IN 1..6 LOOP
	   INSERT INTO big SELECT 1 + (random() * $rows * 1.1)::int, i, 'update ' || i || ' ' || g
	   FROM generate_series(1, $small) g;
	   DELETE FROM big WHERE id BETWEEN i * $small / 7 AND i * $small / 6;
	 END LOOP; END \$\$");

my $most = 0;
my @for_java;
for my $round (1 .. 3)
{
	my $state = "state_$round";
	my $plan = $session->run(
		"EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF)
		 CREATE TABLE $state AS SELECT id, v, s, _bucket FROM big", 600);
	my ($ends) = $plan->{out} =~ /Fluss Pinned Ends: (.*)/;

	like($plan->{out}, qr/Fluss Scan: snapshot/, 'EXPLAIN tells of the snapshot');
	ok($ends, "EXPLAIN ANALYZE shows the pinned ends") or diag("$plan->{out}$plan->{err}");
	diag("round $round: $ends, of all " . ($plan->{out} =~ /Execution Time: (.*)/)[0]);

	my %end = $ends =~ /bucket (\d+): (\d+)/g;
	my $before = join ' OR ',
	  map { "_bucket = $_ AND _log_offset < $end{$_}" } sort keys %end;
	my $last = "SELECT DISTINCT ON (id) id, v, s, _bucket, _change_type FROM changes
	   WHERE (%s) AND _change_type <> 'update_before' ORDER BY id, _log_offset DESC";
	$session->value('CREATE TABLE expected AS SELECT id, v, s, _bucket FROM ('
		  . sprintf($last, $before)
		  . ") x WHERE _change_type <> 'delete'", 600);
	is_value($session,
		"SELECT count(*) > 0 FROM expected;
		 SELECT count(*) FROM (TABLE expected EXCEPT ALL TABLE $state) x;
		 SELECT count(*) FROM (TABLE $state EXCEPT ALL TABLE expected) x;
		 DROP TABLE expected", "t\n0\n0",
		"the result is the changelog's up to the pinned ends");
	$session->value("CREATE TABLE ${state}_ends AS SELECT * FROM (VALUES "
		  . join(', ', map { "($_, $end{$_}::bigint)" } keys %end)
		  . ') e (bucket, log_end)');
	# a line of its own for psql, before the semicolon that ends what is sent
	my $file = "$cluster->{dir}/$state";
	$session->value("\\copy (SELECT _bucket, id, v, s FROM $state) TO '$file'\n", 600);
	push @for_java, $file, join ',', map { "$_:$end{$_}" } sort keys %end;
	$most = max($most, rss_anon_kb($session->pid));
}
$writer->finish(600);

# Replayed from the pinned ends on, each state becomes the table's.
for my $round (1 .. 3)
{
	$session->value(
		"CREATE TEMP TABLE late AS SELECT DISTINCT ON (id) id, v, s, _bucket, _change_type
		 FROM changes JOIN state_${round}_ends e ON bucket = _bucket AND _log_offset >= log_end
		 WHERE _change_type <> 'update_before' ORDER BY id, _log_offset DESC;
		 DELETE FROM state_$round USING late WHERE state_$round.id = late.id;
		 INSERT INTO state_$round SELECT id, v, s, _bucket FROM late WHERE _change_type <> 'delete';
		 DROP TABLE late", 600);
	is_value($session,
		"SELECT count(*) FROM (TABLE whole EXCEPT ALL TABLE state_$round) x;
		 SELECT count(*) FROM (TABLE state_$round EXCEPT ALL TABLE whole) x",
		"0\n0", "replayed from its ends, state $round is the table's");
}
# The same judged by a client that shares nothing with ours.
open my $java, '-|', "$FindBin::RealBin/../test/snapshot/replay",
  $cluster->bootstrap, $ENV{PGDATABASE}, 'big', @for_java
  or die "replay: $!";
my $judged = 0;
while (<$java>)
{
	chomp;
	$judged++;
	ok(/^ok - /, "Java: " . s/^(not )?ok - //r);
}
is($judged, 6, 'Java judges each state');

cmp_ok($most, '<', 150000, "the backend stays small ($most kB)");
nothing_is_left($session->pid, 'reading to the end');

# ---- a limit scan that meets too many rows

$session->value(
	"CREATE FOREIGN TABLE auto ($columns) SERVER good
	   OPTIONS (table_name 'big', limit_scan_max_rows '10');
	 CREATE SERVER blind FOREIGN DATA WRAPPER fluss_fdw OPTIONS (bootstrap_servers '"
	  . $cluster->bootstrap
	  . "', database_name 'tap_snapshot', remote_files '$remote', use_remote_estimate 'off');
	 CREATE USER MAPPING FOR PUBLIC SERVER blind;
	 CREATE FOREIGN TABLE unknown ($columns) SERVER blind
	   OPTIONS (table_name 'big', limit_scan_max_rows '10')");
like($session->value('EXPLAIN SELECT * FROM auto'),
	qr/Fluss Scan: snapshot/, 'many rows are read by snapshot');
like($session->value('EXPLAIN SELECT * FROM unknown'),
	qr/Fluss Scan: limit scan/, 'an unknown number by limit scan');
is_value($session,
	'SELECT count(*) FROM (TABLE whole EXCEPT ALL TABLE unknown) x;
	 SELECT (SELECT count(*) FROM whole) = (SELECT count(*) FROM unknown)',
	"0\nt", 'which goes on as a snapshot read');

# ---- ends before the end

is_error($session->run('SELECT 1 / (id - id) FROM big'), '22012', 'an error in mid-read');
nothing_is_left($session->pid, 'an error');
is_value($session, 'SELECT count(*) FROM (SELECT 1 FROM big LIMIT 5) x', '5', 'a LIMIT');
nothing_is_left($session->pid, 'a LIMIT');

SKIP:
{
	my $folder = make_small_disk($session, 'tiny', '256k')
	  or skip 'a small disk cannot be mounted', 3;
	my $full = $session->run("SET temp_tablespaces = 'tiny'; SELECT count(*) FROM big");

	is_error($full, '53100', 'a disk that is full before all is copied');
	like($full->{err}, qr/could not write to ".*No space left on device/, 'is told of');
	is(scalar(() = glob "$folder/pgsql_tmp/*"), 0, 'and nothing is left there');
	$session->value('RESET temp_tablespaces');
	drop_small_disk($session, 'tiny');
}

$session->value('BEGIN; DECLARE c CURSOR FOR SELECT * FROM big; FETCH 10 FROM c');
cmp_ok(scalar(helpers($session->pid)), '==', 1, 'a cursor has one helper');
my ($helper) = helpers($session->pid);
cmp_ok(rss_anon_kb($helper), '<', 100000,
	'which is small: ' . rss_anon_kb($helper) . ' kB');
kill 'KILL', $helper;
is_error($session->run('MOVE ALL FROM c'), 'HV00L', 'a killed helper is an error');
$session->value('ROLLBACK');
nothing_is_left($session->pid, 'a killed helper');

my $slow = FlussSession->new;
$slow->send('SELECT count(pg_sleep(1)) FROM big');
await(sub { return helpers($slow->pid) > 0 });
is(scalar helpers($slow->pid), 1, 'a slow reader');
$session->value('SELECT pg_cancel_backend(' . $slow->pid . ')');
is_error($slow->finish, '57014', 'a cancel');
nothing_is_left($slow->pid, 'a cancel');

$slow->value('BEGIN; DECLARE c CURSOR FOR SELECT * FROM big; FETCH 10 FROM c');
$session->value('SELECT pg_terminate_backend(' . $slow->pid . ')');
nothing_is_left($slow->pid, 'a termination');
is_value($session, 'SELECT (SELECT count(*) FROM big) = (SELECT count(*) FROM whole)',
	't', 'and the table can be read again');

# ---- what a snapshot must be

$session->value("ALTER SERVER good OPTIONS (DROP remote_files)");
is_error($session->run('SELECT count(*) FROM big'), '42501', 'files that may not be read');
$session->value("ALTER SERVER good OPTIONS (ADD remote_files '$remote')");

# nothing is written any more, so there are no newer snapshots
for my $file (snapshot_files())
{
	open my $handle, '+<', $file or next;
	my $size = -s $handle;
	seek $handle, int($size / 3), 0;
	print {$handle} "\0" x 64;
	close $handle;
}
is_error($session->run('SELECT count(*) FROM big'), 'HV00M', 'a corrupt file');
nothing_is_left($session->pid, 'a corrupt file');
unlink snapshot_files();
is_error($session->run('SELECT count(*) FROM big'), '22023', 'a missing file');
nothing_is_left($session->pid, 'a missing file');

end_test($session, 'good');
