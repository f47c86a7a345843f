# What the TAP tests share: a database of their own, foreign servers and
# tables, checks of results, and a look at a backend from outside.
package FlussTest;

use strict;
use warnings;

use Exporter 'import';
use File::Temp 'tempdir';
use IO::Socket::INET;
use Test::More;
use Time::HiRes 'time';

use FlussCluster;
use FlussSession;

our @EXPORT = qw(
  begin_test end_test add_server add_good_server add_readings add_info
  is_error is_value wait_ends ways_to_end rss_anon_kb helpers sockets descriptors context_kb
  closed_port listening_socket reads_snapshots make_small_disk drop_small_disk
);

my $database;
my %small_disks;

$SIG{INT} = $SIG{TERM} = sub { exit 1 };

# Makes the database tap_NAME and returns the cluster and a session there.
# Without the environment of test/run there is nothing to test.
sub begin_test
{
	my ($name) = @_;

	plan skip_all => 'FLUSS_CLUSTER_DIR is not set: see test/README.md'
	  unless $ENV{FLUSS_CLUSTER_DIR};
	$database = "tap_$name";
	my $session = FlussSession->new(database => 'postgres');
	$session->value("DROP DATABASE IF EXISTS $database WITH (FORCE)");
	$session->value("CREATE DATABASE $database");
	$session->close;
	$ENV{PGDATABASE} = $database;
	$session = FlussSession->new;
	$session->value(
		'SET client_min_messages = warning; CREATE EXTENSION fluss_fdw');
	return (FlussCluster->given, $session);
}

# Removes the Fluss databases behind the servers, and tells that all tests ran.
sub end_test
{
	my ($session, @servers) = @_;

	$session->value(
		"SELECT fluss_drop_database('$_', '$database', cascade => true)")
	  for @servers;
	done_testing();
	return;
}

END
{
	local $?;
	system "umount -l $_" for values %small_disks;
}

END
{
	if ($database)
	{
		local $?;
		FlussSession->new(database => 'postgres')
		  ->value("DROP DATABASE IF EXISTS $database WITH (FORCE)");
	}
}

sub options_clause
{
	my (%options) = @_;
	my @list = map { "$_ '$options{$_}'" } sort keys %options;
	return @list ? ' OPTIONS (' . join(', ', @list) . ')' : '';
}

# Makes a foreign server with short timeouts and a mapping for everybody, of
# the options user and password.
sub add_server
{
	my ($session, $name, %options) = @_;
	my %mapping;

	for my $option (qw(user password))
	{
		$mapping{$option} = delete $options{$option} if $options{$option};
	}
	%options = (
		database_name => $database,
		connect_timeout => '1s',
		request_timeout => '2s',
		%options);
	$session->value("CREATE SERVER $name FOREIGN DATA WRAPPER fluss_fdw"
		  . options_clause(%options)
		  . "; CREATE USER MAPPING FOR PUBLIC SERVER $name"
		  . options_clause(%mapping));
	return;
}

# The same, with timeouts that no load runs into and an empty Fluss database behind it.
sub add_good_server
{
	my ($session, $name, %options) = @_;

	add_server($session, $name, connect_timeout => '30s', request_timeout => '60s', %options);
	$session->value(
		"SELECT fluss_drop_database('$name', '$database', if_exists => true, cascade => true);
		 SELECT fluss_create_database('$name', '$database')");
	return;
}

# A log table of so many readings: sensor_id = offset % 100, temperature_c =
# offset, humidity_pct = offset / 2.
sub add_readings
{
	my ($session, $server, $table, $rows) = @_;

	$session->value(
		"CREATE FOREIGN TABLE $table (sensor_id integer, measured_at timestamp(3),
		   temperature_c double precision, humidity_pct double precision,
		   _log_offset bigint OPTIONS (metadata 'log_offset')) SERVER $server;
		 SELECT fluss_create_table('$table', bucket_key => '{sensor_id}', bucket_count => 1)");
	$session->value(
		"INSERT INTO $table (sensor_id, measured_at, temperature_c, humidity_pct)
		 SELECT g % 100, timestamp '2026-08-04 09:00' + g * interval '1 s', g, g / 2.0
		 FROM generate_series(0, $rows - 1) g", 300);
	return;
}

# A primary key table of so many sensors, from 0 on, named "sensor N".
sub add_info
{
	my ($session, $server, $table, $rows) = @_;

	$session->value(
		"CREATE FOREIGN TABLE $table (sensor_id integer NOT NULL, name text) SERVER $server;
		 SELECT fluss_create_table('$table', primary_key => '{sensor_id}', bucket_count => 1);
		 INSERT INTO $table SELECT g, 'sensor ' || g FROM generate_series(0, $rows - 1) g");
	return;
}

# One test: the result is exactly one error, of that SQLSTATE, within so many
# seconds if given.
sub is_error
{
	my ($result, $sqlstate, $name, $seconds) = @_;

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my $good =
		 $result->{errors} == 1
	  && $result->{sqlstate} eq $sqlstate
	  && (!defined $seconds || $result->{seconds} <= $seconds);
	ok($good, $name)
	  or diag(
		sprintf "expected one error %s%s, got after %.2f s:\n%s%s",
		$sqlstate, defined $seconds ? " within $seconds s" : '',
		@$result{qw(seconds out err)});
	return $good;
}

# One test: the statement prints that and nothing else, no warning either.
sub is_value
{
	my ($session, $sql, $expected, $name) = @_;

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my $result = $session->run($sql);
	return is($result->{out} . $result->{err}, $expected, $name);
}

# The ways in which a wait ends from outside, and the SQLSTATEs that they lead to.
my %ends = (
	statement_timeout => '57014',
	pg_cancel_backend => '57014',
	pg_terminate_backend => '57P01');

sub ways_to_end { return sort keys %ends; }

# Tests that the statement just sent waits and that this way, taken by another
# session, ends it within a second. By statement_timeout it ends by itself, 0.3 s
# after it was sent. Returns the answer.
sub wait_ends
{
	my ($waiting, $other, $way, $name) = @_;
	my $start = $waiting->{started} + 0.3;

	local $Test::Builder::Level = $Test::Builder::Level + 1;
	if ($way ne 'statement_timeout')
	{
		$waiting->ready(0.25);
		$start = time;
		$other->value("SELECT $way(" . $waiting->pid . ')');
	}
	my $answer = $waiting->finish;
	my $seconds = time - $start;
	cmp_ok($answer->{seconds}, '>=', 0.25, "$name waits for the stopped server");
	cmp_ok($seconds, '<', 1, "$name ends by $way within a second");
	is($answer->{sqlstate}, $ends{$way}, "$name ends by $way")
	  or diag($answer->{err});
	is($answer->{errors}, 1, "$name: one error");
	return $answer;
}

# ---- a backend, seen from outside

sub rss_anon_kb
{
	my ($pid) = @_;

	open my $file, '<', "/proc/$pid/status" or return 0;
	my ($size) = join('', <$file>) =~ /^RssAnon:\s+(\d+) kB/m;
	return $size // 0;
}

# Processes of the program that reads KV snapshots, which it has started.
sub helpers
{
	my ($pid) = @_;
	my @found;

	for my $file (glob '/proc/[0-9]*/stat')
	{
		open my $stat, '<', $file or next;
		push @found, $1
		  if (<$stat> // '') =~ /^(\d+) \(fluss_fdw_rocks\S*\) \S+ $pid /;
	}
	return @found;
}

# What its file descriptors are.
sub descriptors
{
	my ($pid) = @_;
	my @links = map { readlink } glob "/proc/$pid/fd/*";
	return grep { defined } @links;
}

sub sockets { return grep { /^socket:/ } descriptors(@_); }

# kB in the memory contexts of the session's backend.
sub context_kb
{
	my ($session) = @_;
	return $session->value(
		'SELECT sum(total_bytes) / 1024 FROM pg_backend_memory_contexts');
}

# Whether the program that reads KV snapshots is installed: not without librocksdb.
sub reads_snapshots
{
	my $pg_config = $ENV{FLUSS_PG_BIN} ? "$ENV{FLUSS_PG_BIN}/pg_config" : 'pg_config';
	chomp(my $folder = `$pg_config --pkglibdir`);
	return -x "$folder/fluss_fdw_rocksdb";
}

# ---- disks

# A tablespace on a disk of that size, "10m"; its folder, or nothing when this
# user cannot mount one.
sub make_small_disk
{
	my ($session, $name, $size) = @_;
	my $folder = tempdir('/tmp/fluss_small_XXXX', CLEANUP => 1);
	my $owner = (stat $session->value('SHOW data_directory'))[4];

	return
	  if system("mount -t tmpfs -o size=$size,uid=$owner,mode=0700 none $folder 2>/dev/null") != 0;
	$small_disks{$name} = $folder;
	$session->value("CREATE TABLESPACE $name LOCATION '$folder'");
	return (glob "$folder/PG_*")[0];
}

# With a checkpoint, or after a crash PostgreSQL would want to make it again.
sub drop_small_disk
{
	my ($session, $name) = @_;

	$session->value("DROP TABLESPACE $name");
	$session->value('CHECKPOINT');
	system 'umount', '-l', delete $small_disks{$name};
	return;
}

# ---- ports

# A socket on a free port that the kernel lets clients connect to, up to the
# given number; nobody reads.
sub listening_socket
{
	my ($backlog) = @_;
	return IO::Socket::INET->new(
		LocalAddr => '127.0.0.1',
		Proto => 'tcp',
		Listen => $backlog) // die "socket: $!";
}

# A port that nobody listens on.
sub closed_port { return listening_socket(1)->sockport; }

1;
