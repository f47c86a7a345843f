# The disk space that a snapshot read takes: temp_file_limit bounds it, a full
# disk is one clear error, and nothing is left there, not even by a backend that
# is killed.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/lib";
use FlussTest;
use Test::More;
use Time::HiRes qw(sleep time);

my ($cluster, $session) = begin_test('snapshot_disk');

plan skip_all => 'the extension was built without librocksdb'
  unless reads_snapshots();

my $data = $session->value('SHOW data_directory');

add_good_server($session, 'good', bootstrap_servers => $cluster->bootstrap);

# Without a snapshot yet: all of it is changes, which the program writes. They
# do not get smaller by compression.
$session->value(
	"CREATE FOREIGN TABLE big (id integer, s text) SERVER good OPTIONS (kv_scan 'snapshot');
	 SELECT fluss_create_table('big', primary_key => '{id}', bucket_count => 1)");
$session->value(
	"INSERT INTO big SELECT g, (SELECT string_agg(md5(g || ' ' || i), '') FROM generate_series(1, 32) i)
	 FROM generate_series(1, 30000) g", 300);

sub folders
{
	my ($where) = @_;
	return grep { /\.fluss\d+$/ } glob "$where/pgsql_tmp/*";
}

sub nothing_is_left
{
	my ($where, $after) = @_;
	my $end = time + 30;

	sleep 0.05 while time < $end && folders($where);
	is(scalar folders($where), 0, "no folder is left after $after");
	return;
}

# ---- temp_file_limit

my $read = 'SELECT count(*), sum(length(s)) FROM big';
my $result = $session->run("SET temp_file_limit = '10MB'; $read");
is_error($result, 'HV001', 'more than temp_file_limit');
like($result->{err}, qr/^HINT: .*temp_file_limit/m, 'a hint names it');
nothing_is_left("$data/base", 'that');
is_value($session, "SET temp_file_limit = '200MB'; $read", '30000|30720000',
	'less than temp_file_limit');

# two scans at a time share it
$session->value(
	"SET temp_file_limit = '40MB'; BEGIN; DECLARE a CURSOR FOR SELECT * FROM big; FETCH 10 FROM a");
is_error($session->run($read), 'HV001', 'two scans together');
$session->value('ROLLBACK; RESET temp_file_limit');
nothing_is_left("$data/base", 'both');
is_value($session, $read, '30000|30720000', 'the session goes on');

# ---- a backend that is killed: PostgreSQL begins anew and removes its files

my $killed = FlussSession->new;
$killed->value('BEGIN; DECLARE c CURSOR FOR SELECT * FROM big; FETCH 10 FROM c');
my @helpers = helpers($killed->pid);
is(scalar @helpers, 1, 'the program runs');
is(scalar folders("$data/base"), 1, 'in its folder');
kill 'KILL', $killed->pid;
my $end = time + 30;
sleep 0.05 while time < $end && -d "/proc/$helpers[0]";
ok(!-d "/proc/$helpers[0]", 'it ends with its backend');

$end = time + 60;
undef $session;
until ($session || time > $end)
{
	$session = eval { FlussSession->new };
	sleep 0.2 unless $session;
}
nothing_is_left("$data/base", 'a crash');
is_value($session, $read, '30000|30720000', 'and the table can be read again');

# ---- a full disk

SKIP:
{
	my $folder = make_small_disk($session, 'small', '10m')
	  or skip 'a small disk cannot be mounted', 4;

	$result = $session->run("SET temp_tablespaces = 'small'; $read");
	is_error($result, '53100', 'a full disk');
	like($result->{err}, qr/No space left on device/, 'is told of');
	nothing_is_left($folder, 'that');
	is_value($session, "RESET temp_tablespaces; $read", '30000|30720000',
		'the session goes on');
	drop_small_disk($session, 'small');
}

end_test($session, 'good');
