# What needs no Fluss works without it: EXPLAIN of any plan, \d, pg_dump and
# restore, DROP; and the module keeps its symbols to itself.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/lib";
use FlussTest;
use File::Temp;
use Test::More;

my ($cluster, $session) = begin_test('tools');
my $bin = $ENV{FLUSS_PG_BIN} ? "$ENV{FLUSS_PG_BIN}/" : '';
my $folder = File::Temp->newdir;

# The output of a program, and whether it succeeded.
sub output
{
	my ($name, @command) = @_;

	open my $pipe, '-|', @command or die "$command[0]: $!";
	my $out = join '', <$pipe>;
	ok(close $pipe, $name);
	return $out;
}

# ---- symbols

{
	my $module = $session->value(
		"SELECT setting || '/fluss_fdw.so' FROM pg_config() WHERE name = 'PKGLIBDIR'");
	my @symbols = output('nm runs', 'nm', '-D', '--defined-only', $module) =~ / (\S+)$/mg;
	is_deeply(
		[ grep { !/^(?:pg_finfo_)?fluss_fdw_|^Pg_magic_func$|^_PG_/ } @symbols ],
		[], 'nothing is visible but the entry points');
	cmp_ok(scalar @symbols, '>', 20, 'which are some');
}

# ---- tables of every kind, planned in every way

add_good_server($session, 'good',
	bootstrap_servers => $cluster->bootstrap,
	connect_timeout => '500ms',
	request_timeout => '60s');
add_readings($session, 'good', 'readings', 100);
add_info($session, 'good', 'info', 10);
$session->value(
	"CREATE FOREIGN TABLE hist (sensor_id integer NOT NULL, day text NOT NULL, v bigint) SERVER good;
	 SELECT fluss_create_table('hist', primary_key => '{sensor_id,day}', bucket_key => '{sensor_id}', bucket_count => 1);
	 CREATE FOREIGN TABLE parted (region text NOT NULL, v double precision, part text OPTIONS (metadata 'partition'),
	   _log_offset bigint OPTIONS (metadata 'log_offset'), at timestamptz OPTIONS (metadata 'commit_timestamp')) SERVER good OPTIONS (create_partitions 'true');
	 SELECT fluss_create_table('parted', partitioned_by => '{region}', bucket_count => 1);
	 INSERT INTO parted (region, v) VALUES ('eu', 1), ('us', 2);
	 CREATE FOREIGN TABLE changes (kind text OPTIONS (metadata 'change_type'), sensor_id integer, name text)
	   SERVER good OPTIONS (table_name 'info', scan_mode 'changelog');
	 CREATE TABLE loc (id integer, tag text);
	 INSERT INTO loc VALUES (1, 'mon'), (2, 'tue');
	 CREATE VIEW named AS SELECT r.sensor_id, i.name FROM readings r LEFT JOIN info i USING (sensor_id);
	 CREATE MATERIALIZED VIEW kept AS SELECT sensor_id, count(*) FROM readings GROUP BY 1");

my @statements = (
	'SELECT * FROM readings',
	'SELECT * FROM readings WHERE _log_offset BETWEEN 5 AND 9 AND temperature_c > 3',
	'SELECT count(*), max(_log_offset), sum(temperature_c) FROM readings',
	'SELECT * FROM readings ORDER BY _log_offset DESC LIMIT 3',
	'SELECT * FROM readings LIMIT 3',
	'SELECT * FROM info',
	'SELECT count(*) FROM info',
	'SELECT name FROM info WHERE sensor_id IN (1, 2)',
	'SELECT * FROM hist WHERE sensor_id = 1',
	'SELECT * FROM named',
	'SELECT * FROM loc JOIN info ON sensor_id = id JOIN hist h ON h.sensor_id = id AND h.day = tag',
	'SELECT * FROM loc WHERE NOT EXISTS (SELECT FROM info WHERE sensor_id = id)',
	"SELECT * FROM parted WHERE region > 'f' AND at > now()",
	"SELECT * FROM parted WHERE part = 'eu' ORDER BY _log_offset",
	'SELECT * FROM changes',
	"INSERT INTO info VALUES (1, 'x')",
	'INSERT INTO readings (sensor_id) SELECT sensor_id FROM info',
	"UPDATE info SET name = 'x' WHERE sensor_id = 1",
	"UPDATE info SET name = tag FROM loc WHERE sensor_id = id",
	'DELETE FROM info WHERE sensor_id IN (1, 2)',
	'DELETE FROM hist');

sub all_explained
{
	my ($user, $seconds, $name) = @_;
	my $unavailable = 0;

	for my $sql (@statements)
	{
		for my $options ('COSTS OFF', 'VERBOSE, FORMAT JSON')
		{
			my $result = $user->run("EXPLAIN ($options) $sql");
			is($result->{err}, '', "$name: EXPLAIN ($options) $sql");
			like($result->{out}, qr/"?Fluss Table"?: "?tap_tools\./, 'it tells the table');
			cmp_ok($result->{seconds}, '<', $seconds, 'it does not wait');
			$unavailable++ if $result->{out} =~ /unavailable/;
		}
	}
	return $unavailable;
}

$session->value('SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0;
	SET min_parallel_table_scan_size = 0');
is(all_explained($session, 30, 'up'), 0, 'all metadata is available');

# ---- without Fluss

my $dump = "$folder/dump.sql";
$session->value("ALTER SERVER good OPTIONS (SET request_timeout '1s')");
$cluster->freeze;
my $warm = $session->run('EXPLAIN (COSTS OFF) SELECT * FROM named WHERE sensor_id = 1');
is($warm->{err}, '', 'EXPLAIN while Fluss hangs');
cmp_ok($warm->{seconds}, '<', 4, 'it waits for the timeout at most');
output('pg_dump while Fluss hangs', "${bin}pg_dump", '-f', $dump);
$cluster->thaw;

$session->value("ALTER SERVER good OPTIONS (SET bootstrap_servers '127.0.0.1:" . closed_port() . "')");
cmp_ok(all_explained($session, 2, 'down'), '>=', 30, 'what is not known is told of');
cmp_ok(all_explained(FlussSession->new, 2, 'down, a new session'), '>=', 30, 'in a new session, too');
like(output('\d+', "${bin}psql", '-X', '-c', '\d+ readings'),
	qr/_log_offset.*metadata 'log_offset'/, '\d+ shows the columns');
is($session->run('ANALYZE loc')->{errors}, 0, 'ANALYZE of local tables');
for my $sql ('ANALYZE readings', 'IMPORT FOREIGN SCHEMA tap_tools FROM SERVER good INTO public',
	'REFRESH MATERIALIZED VIEW kept')
{
	my $result = $session->run($sql);
	next if $sql =~ /ANALYZE/ && $result->{err} =~ /cannot analyze/;
	is_error($result, 'HV00N', "$sql: one clear error", 2);
}
is_value($session, 'SELECT count(*) FROM kept', 100, 'what a materialized view keeps is there');

# restored where Fluss cannot be reached, all but the view's rows is there
{
	my $text = do { local (@ARGV, $/) = $dump; <> };
	my $port = closed_port();

	$text =~ s/(bootstrap_servers) '[^']*'/$1 '127.0.0.1:$port'/ or die;
	open my $file, '>', $dump or die;
	print $file $text;
	close $file;
	my $maintenance = FlussSession->new(database => 'postgres');
	$maintenance->value('DROP DATABASE IF EXISTS tap_tools_restored WITH (FORCE)');
	$maintenance->value('CREATE DATABASE tap_tools_restored TEMPLATE template0');
	my $errors = `${bin}psql -X -q -d tap_tools_restored -f $dump 2>&1 >/dev/null`;
	my @errors = $errors =~ /ERROR:  (.*)/g;
	is(scalar @errors, 1, 'one error') or diag($errors);
	like($errors, qr/ERROR:  could not connect/, 'since the rows cannot be had') or diag($errors);
	my $restored = FlussSession->new(database => 'tap_tools_restored');
	is_value($restored, "SELECT count(*) FROM pg_foreign_table", 5, 'all tables are restored');
	is_value($restored, 'SELECT relname FROM pg_class WHERE relkind = $$m$$ AND NOT relispopulated',
		'kept', 'the materialized view is there, to be refreshed');
	$restored->value("ALTER SERVER good OPTIONS (SET bootstrap_servers '" . $cluster->bootstrap . "')");
	$restored->value('REFRESH MATERIALIZED VIEW kept');
	is_value($restored, 'SELECT count(*), sum(count) FROM kept', '100|100', 'once Fluss is back');
	is_value($restored, 'SELECT count(*), count(name) FROM named', '100|10', 'views work');
	$restored->close;
	$maintenance->value('DROP DATABASE tap_tools_restored WITH (FORCE)');
}

is($session->run('DROP FOREIGN TABLE changes')->{errors}, 0, 'DROP FOREIGN TABLE without Fluss');
is($session->run('BEGIN; DROP EXTENSION fluss_fdw CASCADE; ROLLBACK')->{errors},
	0, 'DROP EXTENSION without Fluss');
$session->value("ALTER SERVER good OPTIONS (SET bootstrap_servers '" . $cluster->bootstrap
	  . "', SET request_timeout '60s')");

# ---- beside another wrapper

SKIP:
{
	skip 'there is no postgres_fdw', 3
	  if $session->run('CREATE EXTENSION postgres_fdw')->{errors};
	my ($host, $port) = split /\n/, $session->value('SHOW unix_socket_directories; SHOW port');
	$session->value(
		"CREATE SERVER here FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '$host', port '$port', dbname 'tap_tools');
		 CREATE USER MAPPING FOR CURRENT_USER SERVER here;
		 CREATE FOREIGN TABLE there (id integer, tag text) SERVER here OPTIONS (table_name 'loc');
		 CREATE FOREIGN TABLE there_info (sensor_id integer, name text) SERVER here OPTIONS (table_name 'info')");
	is_value($session, 'SELECT id, name FROM there JOIN info ON sensor_id = id ORDER BY 1',
		"1|sensor 1\n2|sensor 2", 'a join with another wrapper');
	is_value($session, 'SELECT count(*) FROM info JOIN there_info USING (sensor_id, name)',
		10, 'a Fluss table through another wrapper');
	is_value($session, "UPDATE info SET name = tag FROM there WHERE id = sensor_id RETURNING name",
		"mon\ntue", 'UPDATE from another wrapper');
}

end_test($session, 'good');
