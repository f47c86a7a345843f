# Texts that another client wrote and that are none, with NUL characters and
# bytes that are no UTF-8: an error that tells where, or repaired as the option
# invalid_text says; in scans, filters, keys, joins and the keys of maps.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/lib";
use FlussTest;
use Test::More;

my ($cluster, $session) = begin_test('invalid_text');
my $root = "$FindBin::RealBin/..";
my $tool = 'build/client/write_raw';

is(system("make -s -C $root $tool >&2"), 0, "$tool is built");
add_good_server($session, 'good', bootstrap_servers => $cluster->bootstrap);
$session->value(
	"CREATE FOREIGN TABLE texts (id integer, t text, m jsonb OPTIONS (fluss_type 'MAP<STRING, INT>')) SERVER good;
	 SELECT fluss_create_table('texts', bucket_count => 1);
	 CREATE FOREIGN TABLE keys (k text NOT NULL, n integer) SERVER good;
	 SELECT fluss_create_table('keys', primary_key => '{k}', bucket_count => 1)");

sub write_raw
{
	my ($table, $rows) = @_;

	local $ENV{FLUSS_BOOTSTRAP} = $cluster->bootstrap;
	open my $pipe, '|-', "$root/$tool", 'tap_invalid_text', $table or die;
	print $pipe $rows;
	return ok(close $pipe, "$table is written");
}

# a NUL, a lone surrogate, an overlong NUL, a byte alone, a cut sequence
write_raw('texts', <<'ROWS');
1 x61 x6b=1
2 x610062 x6b=2
3 xeda080 -
4 xc080 xc0=1
5 x61ff62 x6100=1,x62=2
6 - x61=1,x6100=2
7 xf09f98 -
ROWS
write_raw('keys', <<'ROWS');
x61 1
x610062 2
x61ff62 3
x6162 4
ROWS

# ---- error, the default

for my $case (
	[ 'SELECT t FROM texts', qr/column "t".*NUL character/, qr/offset 1 of the batch 0 to 6/ ],
	[ 'SELECT t FROM texts WHERE id = 3', qr/column "t".*not valid UTF-8/, qr/offset 2/ ],
	[ 'SELECT t FROM texts WHERE id = 4', qr/column "t".*not valid UTF-8/, qr/offset 3/ ],
	[ 'SELECT t FROM texts WHERE id = 7', qr/column "t".*not valid UTF-8/, qr/offset 6/ ],
	[ 'SELECT id FROM texts WHERE t = $$a$$', qr/column "t"/, qr/offset 1/ ],
	[ 'SELECT max(t) FROM texts', qr/column "t"/, qr/offset 1/ ],
	[ 'SELECT m FROM texts WHERE id = 4', qr/column "m".*not valid UTF-8/, qr/the keys of m/ ],
	[ 'SELECT m FROM texts WHERE id = 5', qr/column "m".*NUL/, qr/offset 4/ ],
	[ 'SELECT k FROM keys', qr/column "k".*NUL/, qr/foreign table "keys"/ ],
	[ 'SELECT count(*) FROM keys a JOIN keys b USING (k)', qr/column "k"/, qr/"keys"/ ],
	[ 'UPDATE keys SET n = 0', qr/column "k"/, qr/"keys"/ ],
	[ 'DELETE FROM keys WHERE n = 3', qr/column "k"/, qr/"keys"/ ])
{
	my ($sql, $message, $context) = @$case;
	my $result = $session->run($sql);
	is_error($result, '22021', $sql);
	like($result->{message}, $message, 'the message names the column');
	like($result->{err}, $context, 'and where it is');
}
is_value($session, 'SELECT count(*) FROM texts', 7, 'a text that is not read does no harm');
is_value($session, 'SELECT sum(n) FROM keys', 10, 'nor does a key');
is_value($session, "SELECT n FROM keys WHERE k IN ('a', 'ab') ORDER BY 1",
	"1\n4", 'a lookup finds what is equal');

# ---- replace and strip

sub texts_are
{
	my ($user, $how, %expected) = @_;
	my $old = $user->value("SET client_encoding = 'UTF8';
		SELECT count(*) FROM pg_foreign_table, unnest(ftoptions) o WHERE o LIKE 'invalid_text=%'");
	my $verb = $old ? 'SET' : 'ADD';

	$user->value("ALTER FOREIGN TABLE $_ OPTIONS ($verb invalid_text '$how')") for qw(texts keys);
	is_value($user, 'SELECT id, t FROM texts', $expected{texts}, "$how: texts");
	is_value($user, 'SELECT id, m FROM texts WHERE m IS NOT NULL AND id <> 6',
		$expected{maps}, "$how: maps");
	is_value($user, 'SELECT n, k FROM keys ORDER BY n', $expected{keys}, "$how: keys");
	is_value($user, 'SELECT id FROM texts WHERE t = \'' . $expected{equal} . '\'',
		$expected{found}, "$how: a filter sees what is shown");
	# a lookup by the bytes of 'ab' would miss rows, or find too few
	my $plan = $user->value("EXPLAIN (COSTS OFF) SELECT n FROM keys WHERE k = 'ab'");
	unlike($plan, qr/lookup/, "$how: no lookup by key");
	is_value($user, "SELECT n FROM keys WHERE k = '$expected{equal}' ORDER BY 1",
		$expected{key}, "$how: a key as it is shown");
	is_value($user, "SELECT n FROM keys JOIN (VALUES ('$expected{equal}'::text)) v (k) USING (k) ORDER BY 1",
		$expected{key}, "$how: joined by key");
	return;
}

my $r = "\xef\xbf\xbd";
texts_are($session, 'replace',
	texts => "1|a\n2|a${r}b\n3|$r$r$r\n4|$r$r\n5|a${r}b\n6|\n7|$r$r$r",
	maps => qq[1|{"k": 1}\n2|{"k": 2}\n4|{"$r": 1}\n5|{"b": 2, "a$r": 1}],
	keys => "1|a\n2|a${r}b\n3|a${r}b\n4|ab",
	equal => "a${r}b", found => "2\n5", key => "2\n3");
is_value($session, 'SELECT m FROM texts WHERE id = 6', qq[{"a": 1, "a$r": 2}],
	'replace: two keys remain two');
texts_are($session, 'strip',
	texts => "1|a\n2|ab\n3|\n4|\n5|ab\n6|\n7|",
	maps => qq[1|{"k": 1}\n2|{"k": 2}\n4|{"": 1}\n5|{"a": 1, "b": 2}],
	keys => "1|a\n2|ab\n3|ab\n4|ab",
	equal => 'ab', found => "2\n5", key => "2\n3\n4");
is_error($session->run('SELECT m FROM texts WHERE id = 6'),
	'22030', 'strip: two keys that become one');

# what is shown does not tell which row it is
is_error($session->run("UPDATE keys SET n = 0 WHERE k = 'ab'"),
	'0A000', 'no UPDATE by a repaired key');
is_error($session->run("DELETE FROM keys WHERE k = 'ab'"),
	'0A000', 'no DELETE by a repaired key');

# ---- a database that cannot hold the replacement character

{
	my $maintenance = FlussSession->new(database => 'postgres');
	$maintenance->value('DROP DATABASE IF EXISTS tap_invalid_text_latin1 WITH (FORCE)');
	$maintenance->value(
		"CREATE DATABASE tap_invalid_text_latin1 ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0");
	my $latin1 = FlussSession->new(database => 'tap_invalid_text_latin1');
	$latin1->value('SET client_min_messages = warning; CREATE EXTENSION fluss_fdw');
	add_server($latin1, 'good', bootstrap_servers => $cluster->bootstrap,
		database_name => 'tap_invalid_text', request_timeout => '60s');
	$latin1->value(
		'CREATE FOREIGN TABLE texts (id integer, t text, m jsonb) SERVER good;
		 CREATE FOREIGN TABLE keys (k text NOT NULL, n integer) SERVER good');
	is_error($latin1->run('SELECT t FROM texts'), '22021', 'LATIN1: an error');
	texts_are($latin1, 'replace',
		texts => "1|a\n2|a?b\n3|???\n4|??\n5|a?b\n6|\n7|???",
		maps => qq[1|{"k": 1}\n2|{"k": 2}\n4|{"?": 1}\n5|{"b": 2, "a?": 1}],
		keys => "1|a\n2|a?b\n3|a?b\n4|ab",
		equal => 'a?b', found => "2\n5", key => "2\n3");
	# nor others that it lacks
	$latin1->value("CREATE FOREIGN TABLE more (id integer, t text) SERVER good OPTIONS (table_name 'more_texts')");
	$session->value(
		"CREATE FOREIGN TABLE more (id integer, t text) SERVER good OPTIONS (table_name 'more_texts');
		 SELECT fluss_create_table('more', bucket_count => 1);
		 INSERT INTO more VALUES (1, U&'caf\\00e9 5 \\20ac \\+01f600')");
	is_error($latin1->run('SELECT t FROM more'), '22P05', 'LATIN1: an error');
	$latin1->value("ALTER FOREIGN TABLE more OPTIONS (ADD invalid_text 'replace')");
	is_value($latin1, 'SELECT t FROM more', "caf\xc3\xa9 5 ? ?", 'LATIN1: replaced');
	$latin1->value("ALTER FOREIGN TABLE more OPTIONS (SET invalid_text 'strip')");
	is_value($latin1, 'SELECT t || $$.$$ FROM more', "caf\xc3\xa9 5  .", 'LATIN1: left out');
	$latin1->close;
	$maintenance->value('DROP DATABASE tap_invalid_text_latin1 WITH (FORCE)');
}

end_test($session, 'good');
