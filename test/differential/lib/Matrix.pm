# The settings under which each query is run.
package Matrix;
use strict;
use warnings;

my @PUSHDOWN = map { "fluss_fdw.enable_$_" } qw(lookup_join vector_filter aggregate_pushdown ordered_scan);
my @JOINS = map { "enable_$_" } qw(hashjoin mergejoin nestloop material memoize);

sub plain { return { name => 'as it is', set => [] } }

sub server { return "ALTER SERVER differential OPTIONS ($_[0])" }

sub off { return map { "SET $_ = off" } @_ }

# In an order that finds most first. The sample has those that differ most.
sub settings {
	my ($version, $sample) = @_;
	my $forced = $version >= 160000 ? 'debug_parallel_query' : 'force_parallel_mode';
	my @parallel = ("SET $forced = on", 'SET parallel_setup_cost = 0', 'SET parallel_tuple_cost = 0', 'SET min_parallel_table_scan_size = 0', 'SET min_parallel_index_scan_size = 0', 'SET max_parallel_workers_per_gather = 2');
	my $generic = 'SET plan_cache_mode = force_generic_plan';
	my @settings = (
		plain(),
		{ name => 'no pushdown', set => [ off(@PUSHDOWN) ] },
		{ name => 'nested loops, generic plans', set => [ off('enable_hashjoin', 'enable_mergejoin', 'enable_material', 'enable_memoize'), $generic ] },
		{ name => 'forced parallel plans', set => \@parallel },
		{ name => 'EXCEPT ALL in one statement', set => [], except_all => 1 },
	);
	return @settings if $sample;
	push @settings, { name => 'generic plans', set => [$generic] };
	push @settings, map { { name => "$_ = off", set => [ off($_) ] } } @PUSHDOWN, @JOINS;
	push @settings,
		{ name => 'merge joins only', set => [ off('enable_hashjoin', 'enable_nestloop') ] },
		{ name => 'nested loops only, no pushdown', set => [ off('enable_hashjoin', 'enable_mergejoin', @PUSHDOWN) ] },
		{ name => 'partitionwise', set => [ 'SET enable_partitionwise_join = on', 'SET enable_partitionwise_aggregate = on', 'SET enable_hashjoin = off' ] },
		{ name => 'hash joins only', set => [ off('enable_nestloop', 'enable_mergejoin') ] },
		{ name => 'no sort, no hash aggregate', set => [ off('enable_sort', 'enable_hashagg') ] },
		{ name => 'merge joins of ordered scans', set => [ off('enable_sort', 'enable_hashjoin', 'enable_nestloop') ] },
		{ name => 'lookup joins forced', set => [ off('enable_hashjoin', 'enable_mergejoin', 'enable_nestloop') ] },
		{ name => 'forced parallel, no pushdown, generic', set => [ @parallel, off(@PUSHDOWN), $generic ] },
		{ name => 'forced parallel, nested loops', set => [ @parallel, off('enable_hashjoin', 'enable_mergejoin', 'enable_material') ] },
		{ name => 'forced parallel, EXCEPT ALL', set => \@parallel, except_all => 1 },
		{ name => 'small batches and answers', set => [ server("ADD lookup_max_batch_size '3', ADD fetch_max_bytes '200B', ADD fetch_max_bytes_for_bucket '100B'"), 'SET fluss_fdw.max_buffered_bytes = \'1MB\'', 'SET work_mem = \'64kB\'' ],
			unset => [ server('DROP lookup_max_batch_size, DROP fetch_max_bytes, DROP fetch_max_bytes_for_bucket') ] },
		{ name => 'one answer at a time', set => [ server("ADD lookup_max_inflight_requests '1', ADD fetch_inflight '1', ADD use_remote_estimate 'off'") ],
			unset => [ server('DROP lookup_max_inflight_requests, DROP fetch_inflight, DROP use_remote_estimate') ] },
		whole_reads(),
		{ name => 'auto_explain', set => ['LOAD \'auto_explain\'', 'SET auto_explain.log_min_duration = 0', 'SET auto_explain.log_analyze = on', 'SET auto_explain.log_verbose = on', 'SET auto_explain.log_nested_statements = on'] },
		{ name => 'as cursors', set => [], wrap => \&as_cursor, only => sub { !$_[0]{values} && !$_[0]{script} && $_[0]{want}[0]{state} eq '00000' } };
	return @settings;
}

# Keyed tables read whole from KV snapshots, where the cluster's files are at hand.
# It copies files each time: not for every execution of a prepared query.
sub whole_reads {
	my $dir = $ENV{FLUSS_CLUSTER_DIR} or return;
	return { name => 'whole reads of snapshots', set => [ server("ADD limit_scan_max_rows '1', ADD remote_files '$dir/remote'") ],
		unset => [ server('DROP limit_scan_max_rows, DROP remote_files') ],
		only => sub { !$_[0]{values} && $_[0]{sql} =~ /\b(info|info2|facts|hist|names|words|stock|ledger|account|enriched|iv)\b/ } };
}

# Read forward to the end, back to the beginning and forward again in pieces.
sub as_cursor {
	my ($sql) = @_;
	return "BEGIN; DECLARE pieces SCROLL CURSOR FOR $sql\n; MOVE FORWARD ALL IN pieces; MOVE BACKWARD ALL IN pieces; MOVE FORWARD 3 IN pieces; MOVE BACKWARD ALL IN pieces; FETCH 7 FROM pieces; FETCH ALL FROM pieces; COMMIT";
}

1;
