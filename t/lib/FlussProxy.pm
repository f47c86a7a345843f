# A proxy between the client and the tablet servers that mistreats the answers
# to writes, never the requests: what a network does that fails at the worst
# moment, when the rows are written and nobody knows. Also delays and resets.
#
# Foreign servers go through it by the option address_map, see map(). It runs in
# a process of its own; set() changes what it does, by probabilities per answer.
package FlussProxy;

use strict;
use warnings;

use Carp;
use File::Temp;
use IO::Select;
use IO::Socket::INET;
use POSIX ();
use Socket qw(SOL_SOCKET SO_LINGER);
use Time::HiRes 'time';

# PRODUCE_LOG, PUT_KV
my %writes = (1014 => 1, 1016 => 1);
my %counts;

# FlussProxy->start(addresses of tablet servers); see set().
sub start
{
	my ($class, @targets) = @_;
	my $self = bless { owner => $$ }, $class;
	my @listeners = map {
		IO::Socket::INET->new(
			LocalAddr => '127.0.0.1',
			Proto => 'tcp',
			Listen => 64)
		  // croak "socket: $!"
	} @targets;

	$self->{orders} = File::Temp->new;
	$self->{report} = File::Temp->new;
	$self->{map} = join ',',
	  map { "$targets[$_]=127.0.0.1:" . $listeners[$_]->sockport }
	  0 .. $#targets;
	$self->set;
	$self->{pid} = fork // croak "fork: $!";
	if ($self->{pid} == 0)
	{
		local $SIG{TERM} = 'DEFAULT';
		local $SIG{PIPE} = 'IGNORE';
		my %target_of;
		@target_of{@listeners} = @targets;
		eval { serve($self, \@listeners, \%target_of); 1 } or warn $@;
		POSIX::_exit(1);
	}
	close $_ for @listeners;
	return $self;
}

# Value of the option address_map.
sub map { return $_[0]{map}; }

# Of the answers to writes, so many are treated so, from now on:
#   lose     the answer is thrown away and the connection closed
#   swallow  the answer is thrown away and nothing else
#   tear     half of the answer is sent, then the connection is reset
#   delay    it comes up to delay_ms later
# seed: the same one makes the same choices for the same traffic.
sub set
{
	my ($self, %orders) = @_;
	my $name = $self->{orders}->filename;

	open my $file, '>', "$name.new" or croak "$name: $!";
	print {$file} join ' ', %orders;
	close $file;
	rename "$name.new", $name or croak "$name: $!";
	return;
}

# How often it has done what, e.g. lose => 12.
sub counts
{
	my ($self) = @_;

	open my $file, '<', $self->{report}->filename or croak "report: $!";
	return split ' ', join '', <$file>;
}

sub stop
{
	my ($self) = @_;
	my $pid = delete $self->{pid};

	return unless $pid && $self->{owner} == $$;
	local $?;
	kill 'TERM', $pid;
	waitpid $pid, 0;
	return;
}

sub DESTROY { $_[0]->stop; return; }

# ---- in the proxy's process

# A link is a pair of sockets and what is on its way: of requests the API keys by
# id, of answers the bytes that make no frame yet and, with their times, the ones
# that wait.
sub serve
{
	my ($self, $listeners, $target_of) = @_;
	my $inputs = IO::Select->new(@$listeners);
	my %links;    # by either socket

	while (1)
	{
		my $now = time;
		my $wait = 0.5;

		for my $link (values %links)
		{
			my $due = $link->{waiting}[0] // next;
			$wait = $due->[0] - $now if $due->[0] - $now < $wait;
		}
		for my $socket ($inputs->can_read($wait > 0 ? $wait : 0))
		{
			if ($target_of->{$socket})
			{
				my $link = open_link($socket, $target_of->{$socket}) // next;
				$links{$_} = $link for @$link{qw(client server)};
				$inputs->add(@$link{qw(client server)});
				next;
			}
			my $link = $links{$socket} // next;
			my $alive =
			  $socket == $link->{client}
			  ? pass_requests($link)
			  : take_answers($self, $link);
			close_link($link, \%links, $inputs) unless $alive;
		}
		for my $link (values %links)
		{
			send_answers($link) or close_link($link, \%links, $inputs);
		}
	}
	return;
}

sub open_link
{
	my ($listener, $target) = @_;
	my $client = $listener->accept // return;
	my $server =
	  IO::Socket::INET->new(PeerAddr => $target, Proto => 'tcp', Timeout => 1);

	unless ($server)
	{
		close $client;
		return;
	}
	return {
		client => $client,
		server => $server,
		requests => '',
		answers => '',
		apis => {},
		waiting => []
	};
}

sub close_link
{
	my ($link, $links, $inputs) = @_;

	for my $socket (@$link{qw(client server)})
	{
		next unless delete $links->{$socket};
		$inputs->remove($socket);
		close $socket;
	}
	return;
}

sub write_all
{
	my ($socket, $bytes) = @_;
	my $done = 0;

	while ($done < length $bytes)
	{
		$done += syswrite($socket, $bytes, 65536, $done) // return 0;
	}
	return 1;
}

# Requests go through as they are; what they are is remembered.
sub pass_requests
{
	my ($link) = @_;

	sysread($link->{client}, my $bytes, 65536) or return 0;
	$link->{requests} .= $bytes;
	while (length $link->{requests} >= 12)
	{
		my ($size, $api, undef, $id) = unpack 'N n n N', $link->{requests};
		last if length $link->{requests} < 4 + $size;
		$link->{apis}{$id} = $api;
		substr $link->{requests}, 0, 4 + $size, '';
	}
	return write_all($link->{server}, $bytes);
}

# False when the connection shall end, with what waits on it.
sub take_answers
{
	my ($self, $link) = @_;

	sysread($link->{server}, $link->{answers}, 65536, length $link->{answers})
	  or return 0;
	while (length $link->{answers} >= 9)
	{
		my ($size, undef, $id) = unpack 'N C N', $link->{answers};
		last if length $link->{answers} < 4 + $size;
		my $frame = substr $link->{answers}, 0, 4 + $size, '';
		my $api = delete $link->{apis}{$id} // 0;
		my $order = $writes{$api} ? choose($self) : '';

		return 0 if $order eq 'lose';
		next if $order eq 'swallow';
		return tear($link, $frame) if $order eq 'tear';
		my $time = $order =~ /^delay (.*)/ ? time + $1 / 1000 : 0;
		push @{ $link->{waiting} }, [ $time, $frame ];
	}
	return 1;
}

sub choose
{
	my ($self) = @_;

	open my $file, '<', $self->{orders}->filename or return '';
	my %orders = split ' ', <$file> // '';
	close $file;
	srand $orders{seed}
	  if $orders{seed} && $orders{seed} ne ($self->{seed} // '');
	$self->{seed} = $orders{seed};
	my $dice = rand;
	for my $order (qw(lose swallow tear delay))
	{
		$dice -= $orders{$order} // 0;
		next if $dice >= 0;
		$counts{$order}++;
		open my $report, '>', $self->{report}->filename or return '';
		print {$report} join ' ', %counts;
		close $report;
		return $order eq 'delay' ? 'delay ' . int rand $orders{delay_ms} : $order;
	}
	return '';
}

# Closing with nothing left to linger for is a reset.
sub tear
{
	my ($link, $frame) = @_;

	write_all($link->{client}, substr $frame, 0, length($frame) / 2);
	setsockopt $link->{client}, SOL_SOCKET, SO_LINGER, pack 'i i', 1, 0;
	return 0;
}

# Answers whose time has come, each for itself: they may overtake one another.
sub send_answers
{
	my ($link) = @_;
	my $now = time;
	my @later;

	return 1 unless @{ $link->{waiting} };
	for my $answer (@{ $link->{waiting} })
	{
		if ($answer->[0] > $now) { push @later, $answer }
		else { write_all($link->{client}, $answer->[1]) or return 0 }
	}
	$link->{waiting} = [ sort { $a->[0] <=> $b->[0] } @later ];
	return 1;
}

1;
