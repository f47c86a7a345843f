# Log segments that lie only in remote storage, as files and in S3: the same
# rows as before they were moved, whatever part of them is asked for; what may
# be opened; files that are damaged or gone; downloads that stall.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/lib";
use Digest::SHA qw(hmac_sha256 hmac_sha256_hex sha256_hex);
use FlussTest;
use Test::More;
use Time::HiRes qw(sleep time);

my $rows = 2_000_000;
my $some = 300_000;
my @tiering = (
	'--set' => 'log.segment.file-size=1mb',
	'--set' => 'remote.log.task-interval-duration=1s');
my $columns = 'id bigint, grp integer, v double precision, txt text,
	bkt integer OPTIONS (metadata \'bucket\'), off bigint OPTIONS (metadata \'log_offset\')';
# A row, and an order-free checksum over rows.
my $row = "i, i % 97, i * 0.5, 'row ' || md5(i::text)";
my $sums = 'count(*), sum(id), sum(grp), sum(v), sum(hashint8(id)::bigint + hashtext(txt))';

my (undef, $session) = begin_test('tiered');
my $database = $ENV{PGDATABASE};

sub sums_of_series
{
	my ($from, $to) = @_;
	return $session->value(
		"SELECT $sums FROM (SELECT i, i % 97, (i * 0.5)::double precision, 'row ' || md5(i::text)
		   FROM generate_series($from, $to) i) s (id, grp, v, txt)", 300);
}

sub make_table
{
	my ($server, $name, $buckets, $n) = @_;
	$session->value(
		"CREATE FOREIGN TABLE $name ($columns) SERVER $server OPTIONS (table_name '$name');
		 SELECT fluss_create_table('$name', bucket_key => '{id}', bucket_count => $buckets,
		   properties => '{\"table.log.tiered.local-segments\": \"1\"}')");
	$session->value(
		"INSERT INTO $name (id, grp, v, txt) SELECT $row FROM generate_series(1, $n) i",
		300);
	return;
}

# How many requests of a kind a statement took.
sub requests
{
	my ($kind, $sql) = @_;
	my $plan = $session->value("EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) $sql", 300);
	return $plan =~ /Fluss Requests: .*\b$kind (\d+)/ ? $1 : 0;
}

# Until the server has dropped its copies of the first segments.
sub wait_for_tiering
{
	my ($cluster, $name) = @_;
	my $end = time + 60;

	while (1)
	{
		my @first = glob "$cluster->{dir}/tablet-0/data/$database/$name-*/log-*/00000000000000000000.log";

		last unless @first;
		die "$name is not tiered" if time > $end;
		sleep 0.2;
	}
	return;
}

# ---- files

my $files = FlussCluster->start('tiered', @tiering);
add_good_server($session, 'files', bootstrap_servers => $files->bootstrap);

# a table that expires while the others are read, the rest of a cursor with it
add_server($session, 'expiring_files',
	bootstrap_servers => $files->bootstrap,
	connect_timeout => '10s',
	request_timeout => '60s',
	remote_files => "$files->{dir}/remote");
$session->value(
	"CREATE FOREIGN TABLE expiring (id integer, txt text, off bigint OPTIONS (metadata 'log_offset')) SERVER expiring_files
	   OPTIONS (writer_batch_size '64kB', fetch_max_bytes '64kB');
	 SELECT fluss_create_table('expiring', bucket_count => 1,
	   properties => '{\"table.log.tiered.local-segments\": \"1\", \"table.log.ttl\": \"8 s\"}');
	 INSERT INTO expiring SELECT i, md5(i::text) || md5((-i)::text) FROM generate_series(0, 99999) i");
my $late = FlussSession->new;
$late->value('BEGIN; DECLARE c CURSOR FOR SELECT id FROM expiring; FETCH 10 FROM c');

make_table('files', 'big', 3, $rows);
make_table('files', 'one', 1, $some);
wait_for_tiering($files, $_) for qw(big one);

my $result = $session->run('SELECT count(*) FROM one');
is_error($result, '42501', 'no local file is opened unless it was allowed');
like($result->{err}, qr/^HINT: .*remote_files/m, 'a hint names the option');
$session->value("ALTER SERVER files OPTIONS (ADD remote_files '$files->{dir}/remote/elsewhere')");
is_error($session->run('SELECT count(*) FROM one'),
	'42501', 'nor one below another path');
is_value($session, "SELECT count(*) FROM one WHERE off >= $some - 10", 10,
	'what the server has itself is read all the same');
$session->value("ALTER SERVER files OPTIONS (SET remote_files '$files->{dir}/remote')");

my $expected = sums_of_series(1, $rows);
is_value($session, "SELECT $sums FROM big", $expected,
	'all rows of three buckets, mostly from files');
cmp_ok(requests('remote read', 'SELECT count(txt) FROM big'),
	'>', 50, 'they are read from files');

my $reader = FlussSession->new;
$reader->value('SELECT count(*) FROM one WHERE off < 10');
my $before = rss_anon_kb($reader->pid);
$reader->value('SELECT count(txt) FROM big', 300);
cmp_ok(rss_anon_kb($reader->pid) - $before,
	'<', 64 * 1024, 'reading takes bounded memory');

# the offset of row i is i - 1
for my $range ([ 0, 1 ], [ 5, 15 ], [ 29_990, 60_010 ], [ 100_000, 100_001 ],
	[ $some - 60_000, $some ])
{
	my ($from, $to) = @$range;
	is_value(
		$session,
		"SELECT $sums FROM one WHERE off >= $from AND off < $to",
		sums_of_series($from + 1, $to),
		"offsets $from to $to");
}
cmp_ok(requests('remote read', 'SELECT * FROM one WHERE off IN (7, 90000, 200000)'),
	'<=', 6, 'single offsets cost single reads');
is_value($session,
	'SELECT string_agg(id::text, \',\' ORDER BY id) FROM one WHERE off IN (7, 90000, 200000)',
	'8,90001,200001', 'and are right');
is_value($session, 'SELECT sum(grp) FROM one',
	$session->value("SELECT sum(i % 97) FROM generate_series(1, $some) i"),
	'one column');
is_value($session, 'SELECT count(*) FROM one', $some, 'no column');
is_value($session, 'SELECT id, off FROM one LIMIT 3', "1|0\n2|1\n3|2", 'LIMIT');
cmp_ok(requests('remote read', 'SELECT id FROM one LIMIT 3'), '<=', 2,
	'LIMIT reads little');

# ---- several at once

my @readers = map { FlussSession->new } 1 .. 2;
$_->send("SELECT $sums FROM one") for @readers;
my $one = sums_of_series(1, $some);
is($_->finish->{out}, $one, 'two sessions at once') for @readers;
is_value($session,
	'SELECT count(*), sum(a.id), sum(b.off) FROM one a JOIN one b USING (id) WHERE a.grp = 5',
	$session->value("SELECT count(*), sum(i), sum(i - 1) FROM generate_series(1, $some) i WHERE i % 97 = 5"),
	'two aliases in one statement');
$session->value('BEGIN; DECLARE x CURSOR FOR SELECT id FROM one; DECLARE y CURSOR FOR SELECT id FROM one');
is_value($session,
	'FETCH 1 FROM x; MOVE 120000 FROM y; FETCH 1 FROM y; MOVE 200000 FROM x; FETCH 1 FROM x; FETCH 1 FROM y',
	"1\n120001\n200002\n120002", 'two cursors in turn');
$session->value('COMMIT');

# ---- records that have expired

my $earliest = 'SELECT earliest_offset FROM fluss_buckets($$expiring$$)';
my $expired_by = time + 60;
my ($first, $before_that) = (0, -1);
# all but those in the segment that is written to, one segment after the other
while (time < $expired_by && ($first < 20_000 || $first != $before_that))
{
	sleep 3;
	($before_that, $first) = ($first, $session->value($earliest));
}
cmp_ok($first, '>=', 20_000, 'the first records have expired');
is_value($session, 'SELECT min(off), max(off), bool_and(id = off) FROM expiring',
	"$first|99999|t", 'a scan without a bound begins where the table does');
is_value($session, 'SELECT min(off) FROM expiring WHERE off >= 0',
	$first, 'so does one from 0 on');
$result = $late->run('MOVE ALL FROM c');
is_error($result, '22023', 'an open cursor does not skip what has expired meanwhile');
like($result->{err}, qr/was lost before it could be read/, 'it tells so');
$late->close;
for my $case (
	[ 'SELECT min(off) FROM expiring WHERE off >= 5', $first, "offset 5 of bucket 0 .* is gone, the earliest is offset $first" ],
	[ 'SELECT count(*) FROM expiring WHERE off BETWEEN 5 AND 10', 0, "offset 5 of bucket 0 .* is gone" ],
	[ 'SELECT count(*) FROM expiring WHERE off >= 1000000', 0, 'offset 1000000 of bucket 0 .* is past its end, offset 100000' ])
{
	my ($sql, $out, $message) = @$case;

	my $answer = $session->run("SET client_min_messages = warning; $sql");
	is($answer->{out}, $out, $sql);
	like($answer->{err}, qr/WARNING: .*$message/, 'a warning tells what is lost');
	$session->value('ALTER FOREIGN TABLE expiring OPTIONS (ADD on_data_loss $$error$$)');
	$answer = $session->run($sql);
	is_error($answer, '22023', 'as an error');
	like($answer->{err}, qr/$message/, 'which tells the same');
	$session->value('ALTER FOREIGN TABLE expiring OPTIONS (SET on_data_loss $$ignore$$)');
	is_value($session, $sql, $out, 'not a word when ignored');
	$session->value('ALTER FOREIGN TABLE expiring OPTIONS (DROP on_data_loss)');
}

# ---- files that are damaged or gone

my ($segment) =
  sort glob "$files->{dir}/remote/log/$database/one-*/0/*/00000000000000000000.log";

# Runs with the segment's bytes changed.
sub with_bytes
{
	my ($change, $test) = @_;
	local $/;
	open my $file, '<:raw', $segment or die "$segment: $!";
	my $bytes = <$file>;
	my $changed = $bytes;
	$change->($changed);
	for ($changed, $bytes)
	{
		open my $out, '>:raw', $segment or die "$segment: $!";
		print $out $_;
		close $out;
		$test->() if $test;
		$test = undef;
	}
	return;
}

with_bytes(
	sub { substr($_[0], 5000, 1) ^= "\x10" },
	sub {
		my $answer = $session->run('SELECT count(txt) FROM one');
		is_error($answer, 'HV00M', 'a wrong byte is noticed');
		like($answer->{err}, qr/\Q$segment\E/, 'and the file named');
	});
with_bytes(
	sub { $_[0] = substr $_[0], 0, 500_000 },
	sub {
		is_error($session->run('SELECT count(*) FROM one'),
			'HV00M', 'so is a short file');
	});
rename $segment, "$segment.away" or die "rename: $!";
is_error($session->run('SELECT count(*) FROM one'),
	'22023', 'and one that is gone', 10);
rename "$segment.away", $segment or die "rename: $!";
is_value($session, "SELECT $sums FROM one", $one, 'the session goes on');
$session->value("SELECT fluss_drop_database('files', '$database', cascade => true)");
$_->close for @readers;
$files->end;

# ---- S3

my $s3 = FlussCluster->start('s3', '--s3', @tiering);
add_good_server($session, 's3', bootstrap_servers => $s3->bootstrap);
make_table('s3', 'far', 2, $rows);
wait_for_tiering($s3, 'far');

is_value($session, "SELECT $sums FROM far", $expected,
	'all rows, mostly from S3, with a token of the cluster');
cmp_ok(requests('remote read', 'SELECT count(txt) FROM far'),
	'>', 5, 'they are read from S3');
is_value($session, 'SELECT count(*) FROM far WHERE bkt = 1 AND off BETWEEN 1000 AND 1099',
	100, 'a part of them');
$session->value(
	"ALTER USER MAPPING FOR PUBLIC SERVER s3 OPTIONS (ADD s3_access_key 'k', ADD s3_secret_key 'hidden-key')");
is_value($session, "SELECT $sums FROM far", $expected, 'with own keys');

my $deaf = listening_socket(5);
$session->value("ALTER SERVER s3 OPTIONS (ADD s3_endpoint 'http://127.0.0.1:"
	  . $deaf->sockport . "', ADD s3_path_style 'true')");
my $other = FlussSession->new;
$session->send('SELECT count(*) FROM far');
ok(!$session->ready(1.5), 'a download waits for a server that says nothing');
my $start = time;
$other->value('SELECT pg_cancel_backend(' . $session->pid . ')');
is_error($session->finish, '57014', 'and is cancelled');
cmp_ok(time - $start, '<', 1, 'at once');

# Signature version 4 of the request that came, made again from its parts.
my $request = '';
$deaf->accept->sysread($request, 65536);
my ($path) = $request =~ /^GET (\S+) /;
my %header;
$header{ lc $1 } = $2 while $request =~ /^([\w-]+): *(.*?)\r$/mg;
my ($scope, $signed, $signature) =
  $request =~ m{Credential=k/(\S+), SignedHeaders=(\S+), Signature=(\w+)};
my $canonical = join "\n", 'GET', $path, '',
  (map { "$_:$header{$_}" } split /;/, $signed), '', $signed,
  $header{'x-amz-content-sha256'};
my $key = 'AWS4hidden-key';
$key = hmac_sha256($_, $key) for split m{/}, $scope;
is($signature,
	hmac_sha256_hex(
		join("\n", 'AWS4-HMAC-SHA256', $header{'x-amz-date'}, $scope,
			sha256_hex($canonical)),
		$key),
	'its signature is right');
like($scope, qr{^\d{8}/us-east-1/s3/aws4_request$}, 'for the region');
$session->value("ALTER SERVER s3 OPTIONS (SET request_timeout '1s')");
$result = $session->run('SELECT count(*) FROM far');
is_error($result, 'HV00L', 'or ends by request_timeout', 5);
unlike($result->{err}, qr/hidden-key/, 'no message has a key');
$session->value("ALTER SERVER s3 OPTIONS (DROP s3_endpoint, SET request_timeout '60s')");
is_value($session, 'SELECT count(*) FROM far WHERE bkt = 1 AND off < 10', 10,
	'the session goes on');

end_test($session, 's3');
