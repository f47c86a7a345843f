# Reads files of queries. Entries are separated by blank lines; comments before a
# query say what it shows, and how it is to be run:
#
#   -- ordered           the order of the rows is part of the answer
#   -- script            several statements, each row in order
#   -- types: int, text  the query is prepared with these parameters, and
#   -- values: 1, 'a'    executed once per line of values
package Entries;
use strict;
use warnings;

sub read_files {
	my @entries;
	for my $path (@_) {
		open my $in, '<:utf8', $path or die "$path: $!\n";
		local $/ = '';
		my ($base) = $path =~ m{([^/]+)\.sql$};
		my $line = 1;
		while (my $text = <$in>) {
			my $lines = ($text =~ tr/\n//);
			my $entry = entry("$base:$line", $text);
			push @entries, $entry if $entry;
			$line += $lines;
		}
	}
	return @entries;
}

sub entry {
	my ($name, $text) = @_;
	my (%entry, @about, @sql);
	for (split /\n/, $text) {
		if (/^-- ordered$/) { $entry{ordered} = 1 }
		elsif (/^-- script$/) { $entry{script} = $entry{ordered} = 1 }
		elsif (/^-- types:\s*(.*)/) { $entry{types} = $1 }
		elsif (/^-- values:\s*(.*)/) { push @{ $entry{values} }, $1 }
		elsif (/^--\s*(.*)/) { push @about, $1 }
		else { push @sql, $_ }
	}
	return unless @sql;
	$entry{sql} = join "\n", @sql;
	$entry{sql} =~ s/;\s*$//;
	$entry{types} //= '' if $entry{values};
	$entry{name} = @about ? "$name (@about)" : $name;
	return \%entry;
}

1;
