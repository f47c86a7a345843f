# Queries made at random, the same ones from the same seed.
package Generator;
use strict;
use warnings;

# A generator of its own, so that a seed gives the same queries everywhere: the
# numbers of perl's rand() depend on the version.
my $STATE;

sub below {
	my ($n) = @_;
	$STATE = ($STATE * 1103515245 + 12345) % 2147483648;
	return int($STATE / 65536) % $n;
}

sub pick { return $_[ below(scalar @_) ] }

sub chance { return below(100) < $_[0] }

my %LITERALS = (
	bool => [qw(true false NULL)],
	int => [ qw(0 1 2 3 5 7 11 20 24 30 100 599 -1 -2 NULL 5000000000::bigint 2.5 3.0 4::smallint), "'NaN'::float8" ],
	place => [ 0 .. 12, 50, 100, 150, 190, 199, 205, '-1', 'NULL', '1000::smallint', '3.5', '7.0', '9223372036854775807', '(SELECT 12)', '(SELECT max(id) FROM loc WHERE id < 40)' ],
	bucket => [qw(0 1 2 3 -1 NULL 1.0 0::smallint 2::bigint)],
	small => [ qw(0 1 -1 45 49 127 -128 128 -129 40000 -32768 32767 NULL 2.5 3::bigint), "'-Infinity'::real" ],
	big => [qw(0 1000000007 -9223372036854775808 9223372036854775807 -299000000049 1e19 -2e19 NULL 5::smallint 77000000539.0)],
	float => [ qw(0 1 2.5 -3 -3.25 1e80 -1e300 NULL 2::smallint 3.5::numeric 0.1::real 0.25::real), "'NaN'", "'Infinity'", "'-Infinity'", "'-0'::float8" ],
	dec => [ qw(0 1.25 -5 19.75 9999999999999999.9999 1.250001 1e30 NULL 3 2.5::float8), "'NaN'", "'Infinity'::numeric" ],
	text => [ map({ "'$_'" } 'a', 'B', 'b', '', 'é', 'longer than seven', 'z10', 'z9', '日本', 'none'), 'NULL', "'b'::varchar" ],
	char => [ map({ "'$_'" } 'ab', 'abc', '', 'zzzzz', 'q'), 'NULL' ],
	bytes => [ "'\\x0300ff'::bytea", "''::bytea", "'\\xff'::bytea", 'NULL' ],
	date => [ map({ "'$_'::date" } '1970-01-01', '1969-12-31', '0001-01-01', '9999-12-31', 'infinity', '-infinity', '1969-12-25'), 'NULL', "'1970-01-02 12:00'::timestamp", "'1970-01-03 00:00+00'::timestamptz" ],
	time => [ map({ "'$_'::time" } '00:00', '24:00', '23:59:59.999', '12:00', '00:36:01.5', '06:00:00.000001'), 'NULL' ],
	stamp => [ map({ "'$_'::timestamp" } '1970-01-01', '1969-12-31 23:03:00.000001', 'infinity', '-infinity', '9999-12-31 23:59:59.999999', '0001-01-01'), 'NULL', "'1970-01-01'::date", "'1970-01-01 00:30+00'::timestamptz" ],
	stampz => [ map({ "'$_'::timestamptz" } '2026-03-29 01:30+00', '2026-03-29 05:00+00', 'infinity', '-infinity', '1582-10-15 00:00+00'), 'NULL', "'2026-03-29'::date", "'2026-03-29 03:00'::timestamp" ],
	commit => [ map({ "commit_of($_)" } 1, 60, 100, 250, 301, 400, 599, 9999), "'infinity'::timestamptz", "'-infinity'::timestamptz", 'now()', "'2000-01-01'::timestamptz", 'NULL', "now() + '1 day'" ],
	day => [ map({ "'$_'" } 'd1', 'd2', 'd3', 'd4', 'd5', 'none', ''), 'NULL', "'d2'::varchar" ],
	when => [ map({ "'2026-08-0$_'::date" } 1 .. 5), 'NULL', "'2026-08-02'::timestamp", "'infinity'::date" ],
	region => [qw(1 2 3 9 NULL 2::bigint 1.0 2.5)],
	key => [qw(-2 0 1 2 3 3 4 5 12 24 99 NULL 3::bigint 4::smallint 5000000000 2.0 2.5)],
	word => [ map({ "'$_'" } 'w2', 'w4', 'Word number 3', 'W2', ''), 'NULL', "'w6'::varchar" ],
	type => [ map({ "'$_'" } qw(insert delete update_before update_after none)), 'NULL' ],
	event => [ map({ "tick($_)" } 1, 20, 21, 50, 77, 100), "now() + '1 day'", "'-infinity'::timestamptz", 'NULL' ],
	plain => [ map({ "tick($_) AT TIME ZONE 'UTC'" } 1, 20, 21, 50, 77, 100), "'infinity'::timestamp", 'NULL' ],
	part => [ map({ "'$_'" } 'd1', 'd2', 'd3', '1$2026-08-01', '2$2026-08-02', '3$2026-08-04', 'none'), 'NULL' ],
);

# The types that parameters and arrays of a kind have.
my %TYPE = (
	bool => ['bool'], int => [qw(int bigint smallint numeric)], place => [qw(bigint int numeric)], bucket => [qw(int smallint bigint)], small => [qw(smallint int bigint)],
	big => ['bigint'], float => [qw(float8 real)], dec => ['numeric'], text => [qw(text varchar)], char => ['text'], bytes => ['bytea'], date => ['date'], time => ['time'],
	stamp => ['timestamp'], stampz => ['timestamptz'], commit => ['timestamptz'], day => [qw(text varchar)], when => ['date'], region => [qw(int bigint)], key => [qw(int bigint smallint numeric)],
	word => [qw(text varchar)], type => ['text'], part => ['text'], event => ['timestamptz'], plain => ['timestamp'],
);

my @PLACES = (_bucket => 'bucket', _log_offset => 'place', _commit_timestamp => 'commit');
my %TABLES = (
	readings => { kind => 'log', id => 'id', columns => { id => 'int', sensor_id => 'key', bo => 'bool', i1 => 'small', i2 => 'small', i8 => 'big', f4 => 'float', f8 => 'float', de => 'dec', tx => 'text', ch => 'char', bi => 'bytes',
		da => 'date', ti => 'time', ts => 'stamp', tz => 'stampz', late => 'int', late_tx => 'text', @PLACES } },
	events => { kind => 'log', id => 'id', columns => { day => 'day', id => 'int', sensor_id => 'key', v => 'float', _partition => 'part', @PLACES } },
	visits => { kind => 'log', id => 'id', columns => { region => 'region', day => 'when', id => 'int', v => 'key', _partition => 'part', @PLACES } },
	changes => { kind => 'log', columns => { _change_type => 'type', id => 'key', balance => 'int', @PLACES } },
	wide => { kind => 'log', id => 'nr', columns => { nr => 'int', sensor_id => 'key', i1 => 'small', i2 => 'small', i8 => 'big', de => 'dec', tx => 'text', ch => 'char', _bucket => 'bucket', _log_offset => 'place' } },
	ticks => { kind => 'log', id => 'id', columns => { id => 'int', at => 'event', plain => 'plain', @PLACES } },
	shards => { kind => 'log', id => 'id', columns => { shard => 'region', id => 'int', sensor_id => 'key', v => 'float', _bucket => 'bucket', _log_offset => 'place' } },
	wide_info => { kind => 'keyed', key => ['sensor_id'], columns => { sensor_id => 'key', name => 'text', state => 'bucket', w => 'float' } },
	dim => { kind => 'keyed', key => [qw(shard sensor_id)], columns => { shard => 'region', sensor_id => 'key', name => 'text' } },
	info => { kind => 'keyed', key => ['sensor_id'], columns => { sensor_id => 'key', name => 'text', site => 'text', state => 'bucket', w => 'float' } },
	info2 => { kind => 'keyed', key => ['sensor_id'], columns => { sensor_id => 'key', name => 'text', state => 'bucket' } },
	hist => { kind => 'keyed', key => [qw(sensor_id day kind)], columns => { sensor_id => 'key', day => 'day', kind => 'bucket', v => 'int', note => 'text' } },
	stock => { kind => 'keyed', key => [qw(day id)], columns => { day => 'day', id => 'key', v => 'int', note => 'text' } },
	ledger => { kind => 'keyed', key => [qw(region day account line)], columns => { region => 'region', day => 'when', account => 'key', line => 'bucket', amount => 'dec' } },
	words => { kind => 'keyed', key => ['k'], columns => { k => 'word', v => 'int', other => 'word' } },
	account => { kind => 'keyed', key => ['id'], columns => { id => 'key', owner => 'text', balance => 'int' } },
	loc => { kind => 'local', columns => { id => 'key', tag => 'day', b => 'big', n => 'dec', s => 'key', f => 'float' } },
);
my @LOGS = grep { $TABLES{$_}{kind} eq 'log' } sort keys %TABLES;
my @KEYED = grep { $TABLES{$_}{kind} eq 'keyed' } sort keys %TABLES;

# The parameters of the query that is being made; undef in one without.
my $PARAMETERS;

sub literal {
	my ($kind) = @_;
	if ($PARAMETERS && chance(50)) {
		my $type = pick(@{ $TYPE{$kind} });
		my @fit = grep { !/::|SELECT/ } @{ $LITERALS{$kind} };
		@fit = grep { /^(NULL|-?\d+)$/ && ($_ eq 'NULL' || abs($_) < ($type eq 'smallint' ? 128 : 2147483648)) } @fit if $type =~ /int$/ && $kind ne 'big';
		@fit = grep { !/e\d/ } @fit if $type =~ /^(bigint|real)$/;
		push @$PARAMETERS, { type => $type, values => \@fit };
		return '$' . @$PARAMETERS;
	}
	return pick(@{ $LITERALS{$kind} });
}

sub literals {
	my ($kind) = @_;
	my $type = $TYPE{$kind}[0];
	return map { "($_)::$type" } grep { !/Infinity|NaN|5000000000|e19|SELECT|2\.5|3\.5|40000/ || $type !~ /int$/ } map { pick(@{ $LITERALS{$kind} }) } 0 .. below(4);
}

# A condition on one column.
sub atom {
	my ($name, $kind) = @_;
	my $op = pick(qw(= = < <= > >= <>));
	my $how = below(20);
	return "$name $op " . literal($kind) if $how < 8;
	return "$name BETWEEN " . literal($kind) . ' AND ' . literal($kind) if $how == 8;
	return "$name IS " . pick('NULL', 'NOT NULL') if $how == 9;
	return "$name IS " . pick('', 'NOT ') . 'DISTINCT FROM ' . literal($kind) if $how == 10;
	return "$name " . pick('IN', 'IN', 'NOT IN') . ' (' . join(', ', literals($kind), 'NULL') . ')' if $how == 11;
	return "$name IN (" . join(', ', literals($kind), literal($kind)) . ')' if $how < 15;
	if ($how < 17) {
		my $type = pick(@{ $TYPE{$kind} });
		my @values = grep { $type ne 'smallint' || !/\d{5}/ } literals($kind);
		return "$name " . pick('= ANY', '= ANY', '<> ALL', '> ANY', '<= ALL') . ' (ARRAY[' . join(', ', @values) . "]::${type}[])";
	}
	return literal($kind) . " $op $name" if $how == 17;
	return pick("($name $op " . literal($kind) . ') IS NOT TRUE', "NOT ($name $op " . literal($kind) . ')') if $how == 18;
	return "$name $op (SELECT " . pick('max', 'min') . "($name) FROM TABLE_OF($name))" if $kind =~ /^(place|commit|key|float|date)$/;
	return "$name = $name";
}

sub column {
	my ($table, $alias) = @_;
	my $columns = $TABLES{$table}{columns};
	my $name = pick(sort keys %$columns);
	# places and keys are what this is about
	$name = pick(grep { /^_/ } sort keys %$columns) if $TABLES{$table}{kind} eq 'log' && chance(45);
	$name = pick(@{ $TABLES{$table}{key} }) if $TABLES{$table}{key} && chance(50);
	return ("$alias.$name", $columns->{$name});
}

sub condition {
	my ($table, $alias, $depth) = @_;
	my $how = below(10);
	if ($depth > 0 && $how < 6) {
		my @parts = map { condition($table, $alias, $depth - 1) } 0 .. 1 + below(2);
		my $and = pick('AND', 'AND', 'OR');
		my $text = '(' . join(" $and ", @parts) . ')';
		return chance(10) ? "NOT $text" : $text;
	}
	if ($how == 6) {
		my ($a, $ka) = column($table, $alias);
		my ($b, $kb) = column($table, $alias);
		return "($a, $b) " . pick('=', '<', '>=', '>') . ' (' . literal($ka) . ', ' . literal($kb) . ')' if chance(60);
		return "($a, $b) IN (" . join(', ', map { '(' . pick(literals($ka), "NULL::$TYPE{$ka}[0]") . ', ' . pick(literals($kb), "NULL::$TYPE{$kb}[0]") . ')' } 0 .. below(3)) . ')';
	}
	my $text = atom(column($table, $alias));
	$text =~ s/TABLE_OF\(\S+?\.(\S+?)\)/$table/ && $text =~ s/\b(max|min)\($alias\./$1(/;
	return $text;
}

sub output {
	my ($table, $alias) = @_;
	return "$alias.*" if chance(10);
	my @names = sort keys %{ $TABLES{$table}{columns} };
	return join ', ', map { "$alias." . pick(@names) } 0 .. below(3);
}

my @AGGREGATES = ('count(*)', 'count(C)', 'min(C)', 'max(C)', 'sum(N)', 'avg(N)', 'count(DISTINCT C)', 'sum(N) FILTER (WHERE COND)', 'count(*) FILTER (WHERE COND)');

sub aggregate {
	my ($table, $alias) = @_;
	my $columns = $TABLES{$table}{columns};
	my @plain = grep { $columns->{$_} !~ /^(bool|bytes)$/ } sort keys %$columns;
	my @numbers = grep { $columns->{$_} =~ /^(int|small|key|bucket|float|dec|place)$/ } @plain;
	my $text = pick(@AGGREGATES);
	my ($c, $n) = (pick(@plain), pick(@numbers));
	$text =~ s/C\b/$alias.$c/ if $text !~ /COND/;
	$text =~ s/N\b/$alias.$n/;
	$text =~ s/COND/condition($table, $alias, 0)/e;
	return $text;
}

sub single {
	my $table = pick(@LOGS, @KEYED, 'readings', 'readings');
	my $from = "FROM $table t WHERE " . condition($table, 't', 2);
	my $how = below(10);
	return 'SELECT ' . output($table, 't') . " $from" if $how < 4;
	return 'SELECT ' . join(', ', map { aggregate($table, 't') } 0 .. below(4)) . " $from" if $how < 7;
	my ($group) = column($table, 't');
	return "SELECT $group, " . join(', ', map { aggregate($table, 't') } 0 .. below(3)) . " $from GROUP BY $group" . (chance(30) ? ' HAVING count(*) > 2' : '') if $how == 7;
	return 'SELECT DISTINCT ' . output($table, 't') . " $from" if $how == 8;
	return "SELECT count(*) FROM (SELECT 1 $from LIMIT " . below(12) . (chance(40) ? ' OFFSET ' . below(5) : '') . ') x';
}

# A total order, so that LIMIT has one answer.
sub ordered {
	my $table = pick(@LOGS, 'readings', 'readings');
	my $columns = $TABLES{$table}{columns};
	my @place = ((grep { $columns->{$_} } qw(_partition shard)), '_bucket', '_log_offset');
	my $direction = pick('', ' DESC');
	my @order = pick([@place], ['_log_offset', grep { $_ ne '_log_offset' } @place], $columns->{_commit_timestamp} ? ['_commit_timestamp', @place] : [@place]);
	my $order = join ', ', map { "t.$_" . (chance(85) ? $direction : pick('', ' DESC')) } @{ $order[0] };
	my $where = chance(75) ? ' WHERE ' . condition($table, 't', 1) : chance(60) ? ' WHERE t._bucket = ' . below(3) : '';
	return 'SELECT ' . join(', ', map { "t.$_" } @place) . ', ' . output($table, 't') . " FROM $table t$where ORDER BY $order LIMIT " . pick(1, 2, 5, 10, 30, 100, 'NULL') . (chance(40) ? ' OFFSET ' . below(20) : '');
}

# Expressions of the outer side that can be compared with a key column.
sub match {
	my ($outer, $alias, $kind) = @_;
	my $columns = $TABLES{$outer}{columns};
	my %alike = (key => 'key|int|small|bucket|region|place', int => 'key|int', bucket => 'bucket|key|int', region => 'region|bucket', day => 'day|text', word => 'text|word|day', when => 'when|date', text => 'text|day');
	my @fit = grep { $columns->{$_} =~ /^($alike{$kind})$/ } sort keys %$columns;
	return literal($kind) if !@fit || chance(12);
	my $name = "$alias." . pick(@fit);
	return $name if chance(70) || $kind =~ /^(when)$/;
	return "lower($name)" if $kind =~ /^(day|word|text)$/;
	return pick("$name + 1", "$name % 5", "${name}::bigint", "coalesce($name, 3)", "abs($name)");
}

sub join_condition {
	my ($outer, $o, $inner, $i) = @_;
	my $t = $TABLES{$inner};
	my @on = map {
		my ($column, $match) = ("$i.$_", match($outer, $o, $t->{columns}{$_}));
		chance(20) ? "$match = $column" : "$column = $match"
	} @{ $t->{key} };
	# fewer columns than the key has, or more
	pop @on while @on > 1 && chance(25);
	push @on, condition($inner, $i, 0) if chance(25);
	push @on, condition($outer, $o, 0) if chance(15);
	return join ' AND ', @on;
}

sub joined {
	my $outer = pick(@LOGS, @KEYED, 'loc', 'loc', 'readings');
	my $inner = pick(@KEYED);
	my $type = pick('JOIN', 'JOIN', 'LEFT JOIN', 'LEFT JOIN', 'LEFT JOIN', 'RIGHT JOIN', 'FULL JOIN');
	my $on = $type eq 'FULL JOIN' ? (join ' AND ', map { "i.$_ = " . match_plain($outer, 'o', $inner, $_) } @{ $TABLES{$inner}{key} }) : join_condition($outer, 'o', $inner, 'i');
	my $from = "FROM $outer o $type $inner i ON $on";
	my $select = output($outer, 'o') . ', ' . output($inner, 'i');
	if (chance(35)) {
		my $third = pick(@KEYED);
		$from .= ' ' . pick('JOIN', 'LEFT JOIN') . " $third j ON " . join_condition(pick([ $outer, 'o' ], [ $inner, 'i' ])->@*, $third, 'j');
		$select .= ', ' . output($third, 'j');
	}
	$from .= ' WHERE ' . condition(pick([ $outer, 'o' ], [ $inner, 'i' ])->@*, 1) if chance(60);
	return pick("SELECT $select $from", "SELECT $select $from", "SELECT count(*), count(i), " . aggregate($inner, 'i') . " $from");
}

# FULL JOIN takes only what a merge or hash join can do: columns of the outer side.
sub match_plain {
	my ($outer, $o, $inner, $column) = @_;
	my $kind = $TABLES{$inner}{columns}{$column};
	my $columns = $TABLES{$outer}{columns};
	my @fit = grep { $columns->{$_} eq $kind } sort keys %$columns;
	return @fit ? "$o." . pick(@fit) : "(CASE WHEN $o IS NULL THEN NULL ELSE " . pick(grep { !/\.|5000000000|NULL/ } @{ $LITERALS{$kind} }) . ' END)';
}

sub nested {
	my $outer = pick(@LOGS, @KEYED, 'loc', 'readings');
	my $inner = pick(@KEYED, @KEYED, @LOGS);
	my @key = $TABLES{$inner}{key} ? @{ $TABLES{$inner}{key} } : ('_bucket', '_log_offset');
	pop @key if @key > 1 && chance(30);
	my %kind = %{ $TABLES{$inner}{columns} };
	my $place = $TABLES{$inner}{kind} eq 'log';
	my $on = join ' AND ', map { "i.$_ = " . match($outer, 'o', $place ? 'key' : $kind{$_}) } @key;
	$on .= ' AND ' . condition($inner, 'i', 0) if chance(35);
	my $where = chance(60) ? condition($outer, 'o', 1) : 'true';
	my $select = output($outer, 'o');
	my $how = below(8);
	return "SELECT $select FROM $outer o WHERE $where AND EXISTS (SELECT FROM $inner i WHERE $on)" if $how == 0;
	return "SELECT $select FROM $outer o WHERE $where AND NOT EXISTS (SELECT FROM $inner i WHERE $on)" if $how == 1;
	return "SELECT $select, (SELECT " . aggregate($inner, 'i') . " FROM $inner i WHERE $on) FROM $outer o WHERE $where" if $how < 4;
	return "SELECT $select, x.* FROM $outer o " . pick('LEFT JOIN', 'JOIN') . ' LATERAL (SELECT ' . output($inner, 'i') . " FROM $inner i WHERE $on) x ON true WHERE $where" if $how < 6;
	my $column = $key[0];
	my $match = match($outer, 'o', $place ? 'key' : $kind{$column});
	return "SELECT $select FROM $outer o WHERE $where AND $match " . pick('IN', 'NOT IN') . " (SELECT i.$column FROM $inner i WHERE " . condition($inner, 'i', 1) . ')';
}

sub set {
	my @table = map { pick(@LOGS, @KEYED) } 0 .. 1;
	my @select = map {
		my $t = $table[$_];
		my $name = pick(grep { $TABLES{$t}{columns}{$_} =~ /^(int|key|bucket|place|small)$/ } sort keys %{ $TABLES{$t}{columns} });
		"SELECT t.$name FROM $t t WHERE " . condition($t, 't', 1)
	} 0 .. 1;
	return "$select[0] " . pick('UNION', 'UNION ALL', 'EXCEPT', 'EXCEPT ALL', 'INTERSECT', 'INTERSECT ALL') . " $select[1]";
}

sub wrapped {
	my ($sql) = @_;
	my $how = below(6);
	return "WITH w AS MATERIALIZED ($sql) SELECT (SELECT count(*) FROM w) AS n, w.* FROM w" if $how == 0 && $sql !~ /\.\*|,/;
	return "SELECT count(*) FROM (SELECT row($1) $2) x" if $how == 1 && $sql =~ /^SELECT (?!DISTINCT)([\w., ]+) (FROM .*)/s;
	return $sql;
}

sub entries {
	my ($seed, $count) = @_;
	$STATE = ($seed * 2654435761 + 1) % 2147483648;
	below(2) for 1 .. 5;
	my @entries;
	for my $n (1 .. $count) {
		$PARAMETERS = chance(35) ? [] : undef;
		my %entry = (name => "generated $n");
		my $how = below(20);
		if ($how < 7) { $entry{sql} = wrapped(single()) }
		elsif ($how < 10) { $entry{sql} = ordered(); $entry{ordered} = 1 }
		elsif ($how < 15) { $entry{sql} = joined() }
		elsif ($how < 18) { $entry{sql} = nested() }
		else { $entry{sql} = set() }
		if ($PARAMETERS && @$PARAMETERS) {
			$entry{types} = join ', ', map { $_->{type} } @$PARAMETERS;
			$entry{values} = [ map { join ', ', map { chance(12) ? 'NULL' : pick(@{ $_->{values} }) } @$PARAMETERS } 1 .. 8 ];
		}
		push @entries, \%entry;
	}
	return @entries;
}

1;
