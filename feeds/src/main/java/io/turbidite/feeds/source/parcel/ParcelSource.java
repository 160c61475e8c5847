package io.turbidite.feeds.source.parcel;

import io.turbidite.feeds.source.FeedSource;
import io.turbidite.feeds.source.PartitionReader;
import io.turbidite.feeds.source.PartitionState;
import io.turbidite.feeds.source.Rejection;
import io.turbidite.feeds.source.SourceHost;
import io.turbidite.feeds.source.SourcePosition;

import org.jspecify.annotations.Nullable;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;

/**
 * Where clients hand in parcels, and the feed's run finds them. Each producer is a partition, whose
 * position is the number of the last record that was taken; clients without a name share the
 * partition {@value #PLAIN}, whose records the source counts itself.
 *
 * <p>Memory: {@value #PARCEL_COUNT_MAX} parcels and {@value #BYTES_MAX} bytes of them, and for each
 * producer some 400 bytes; there are at most {@value Producers#COUNT_MAX}, and those that were not
 * seen for long are forgotten ({@link Producers}).
 *
 * <p><em>Thread-safe by its lock</em>, under which nothing is waited for.
 */
public final class ParcelSource implements FeedSource {
    /** Parcels that may wait; those that are read and not durable yet count too. */
    public static final int PARCEL_COUNT_MAX = 64;

    /** Of their texts; a single one may be longer. */
    public static final long BYTES_MAX = 64 << 20;

    private static final String ENDED = "the feed ended before all of it was durable";
    private static final String OVERTAKEN = "another run of the feed has read on meanwhile";

    /** No producer's: those have an owner and a stroke. */
    private static final String PLAIN = "plain";

    private volatile @Nullable SourceHost host;

    /** Set before the run begins. */
    private volatile @Nullable Producers producers;

    /** What the last framer of a parcel has read into, and nobody reads any more; or null. */
    final AtomicReference<byte @Nullable []> spareBuffer = new AtomicReference<>();

    /** Whose header the parser has; of the run. */
    private @Nullable ParcelReader headerOwner;

    // guarded by this
    private final Map<String, Lane> lanes = new HashMap<>();
    private final LinkedHashSet<String> ready = new LinkedHashSet<>();
    private final List<Runnable> untold = new ArrayList<>();

    /** Producers that were forgotten since the run asked last. */
    private final List<String> gone = new ArrayList<>();

    /** Those of them whose rows are being deleted: it is not known yet whether they go. */
    private final Set<String> leaving = new HashSet<>();

    private int parcelCount;
    private long byteCount;
    private boolean closed;

    /** The parcels of one partition, in sequence. */
    private static final class Lane {
        private final ArrayDeque<Ticket> unread = new ArrayDeque<>();
        private final ArrayDeque<Ticket> unsettled = new ArrayDeque<>();

        /** One of the unsettled, whose reader was closed in its middle: it comes first. */
        private @Nullable BegunParcel begun;

        private long durableTo;
    }

    ParcelSource() {}

    /**
     * Has the source know what an earlier one of the same feed knew of its producers, and leave to
     * a later one what it knows itself. To be called before its run begins.
     */
    public void remembers(Producers known) {
        producers = known;
    }

    // ---- what clients do

    /** Hands a parcel in; without waiting. What can't be taken is settled at once. */
    public Ticket offer(Parcel parcel) {
        return offer(parcel, null);
    }

    /**
     * As {@link #offer(Parcel)}.
     *
     * @param whenSettled is run once there is a receipt, unless that is so at once; by any thread,
     *     which it must not keep
     */
    public Ticket offer(Parcel parcel, @Nullable Runnable whenSettled) {
        synchronized (this) {
            String partition = parcel.producer() == null ? PLAIN : parcel.producer();
            see(partition);
            if (closed) {
                return Ticket.refused(parcel, new Receipt.Away("the feed has just ended its run"));
            }
            if (parcelCount == PARCEL_COUNT_MAX
                    || (parcelCount > 0 && byteCount + parcel.heldBytes() > BYTES_MAX)) {
                return Ticket.refused(
                        parcel,
                        new Receipt.Full("%d requests of %d bytes wait for the feed, as many as may"
                                .formatted(parcelCount, byteCount)));
            }
            Ticket ticket = new Ticket(parcel, this, whenSettled);
            lanes.computeIfAbsent(partition, this::newLane).unread.add(ticket);
            ready.add(partition);
            parcelCount++;
            byteCount += parcel.heldBytes();
            return ticket;
        }
    }

    private Lane newLane(String partition) {
        Lane lane = new Lane();
        lane.durableTo = number(partition);
        return lane;
    }

    private void see(String partition) {
        Producers known = producers;
        if (known != null && !partition.equals(PLAIN)) {
            known.see(partition);
        }
    }

    /** The last number of a producer that is durable, as far as that is known. */
    private long number(String partition) {
        Producers known = producers;
        return known == null ? 0 : known.number(partition);
    }

    /**
     * The number of the last record of a producer that is durable for sure; 0 if there is none, -1
     * if that is not known yet: before the run has begun, while it delivers what an earlier one has
     * left, and while a row is being deleted. It may be told late, but is never too great. Who asks
     * is seen.
     */
    public long durableTo(String owner, String producer) {
        String partition = Parcel.producer(owner, producer);
        synchronized (this) {
            see(partition);
            if (host == null || leaving.contains(partition)) {
                return -1;
            }
            Lane lane = lanes.get(partition);
            return lane == null ? number(partition) : lane.durableTo;
        }
    }

    void giveUp(Ticket ticket, String why) {
        synchronized (this) {
            if (ticket.isSettled()) {
                return;
            }
            String producer = ticket.parcel().producer();
            Lane lane = lanes.get(producer == null ? PLAIN : producer);
            if (lane != null && lane.unread.remove(ticket)) {
                release(ticket);
            }
            ticket.settle(ticket.cut(lane == null ? 0 : lane.durableTo, why));
        }
    }

    private void release(Ticket ticket) {
        parcelCount--;
        byteCount -= ticket.parcel().heldBytes();
    }

    private void settle(Ticket ticket, Receipt receipt) {
        release(ticket);
        ticket.settle(receipt);
        Runnable listener = ticket.whenSettled();
        if (listener != null) {
            untold.add(listener);
        }
    }

    /** Tells what was settled, without the lock. */
    private void signal() {
        List<Runnable> listeners;
        synchronized (this) {
            listeners = List.copyOf(untold);
            untold.clear();
        }
        listeners.forEach(Runnable::run);
        SourceHost now = host;
        if (now != null) {
            now.tasks().signal();
        }
    }

    // ---- what the run does

    @Override
    public void begin(Supplier<Map<String, PartitionState>> taken, SourceHost newHost) {
        Producers known = producers;
        if (known == null) {
            known = new Producers(newHost.clock());
            producers = known;
        }
        Map<String, PartitionState> rows = new HashMap<>(taken.get());
        rows.keySet().removeIf(name -> name.indexOf('/') < 0);
        known.begin(rows);
        newHost.rows().known(known.count());
        synchronized (this) {
            lanes.forEach((name, lane) -> {
                // of whom something came before the run began, when nothing was known of them
                see(name);
                lane.durableTo = number(name);
                lane.begun = null;
                cut(lane.unsettled, lane.durableTo); // begun by an earlier run of the same source
            });
        }
        host = newHost;
        signal();
    }

    /** Those to which something was sent. Also sees to those who were not seen for long. */
    @Override
    public List<String> partitions() {
        SourceHost began = host;
        Producers known = producers;
        if (began == null || known == null) {
            return List.of(); // nobody is known before the run has begun
        }
        SourceHost.Rows rows = began.rows();
        note(known, rows);
        forget(known, rows, false);
        List<String> added = unknown(known);
        makeRoom(known, rows, added.size());
        for (String name : added) {
            if (!known.admit(name)) {
                refuse(name, known.countMax());
            }
        }
        rows.known(known.count());
        synchronized (this) {
            return List.copyOf(ready);
        }
    }

    private synchronized List<String> unknown(Producers known) {
        return ready.stream()
                .filter(name -> !name.equals(PLAIN) && !known.has(name))
                .toList();
    }

    private void makeRoom(Producers known, SourceHost.Rows rows, int places) {
        int missing = known.count() + places - known.countMax();
        if (missing <= 0) {
            return;
        }
        synchronized (this) {
            Set<String> left = known.vacate(missing, this::rests);
            strike(left);
            missing -= left.size();
        }
        if (missing > 0) {
            forget(known, rows, true);
        }
    }

    private void strike(Set<String> producers) {
        lanes.keySet().removeAll(producers);
        gone.addAll(producers);
    }

    private void refuse(String name, int countMax) {
        synchronized (this) {
            ready.remove(name);
            Lane refused = lanes.remove(name);
            if (refused != null) {
                refused.unread.forEach(
                        ticket -> settle(ticket, new Receipt.TooManyProducers(countMax)));
            }
        }
        signal();
    }

    /** Writes rows anew of producers that were seen, and of which nothing else was written. */
    private void note(Producers known, SourceHost.Rows rows) {
        Map<String, Long> due;
        synchronized (this) {
            due = known.toNote(this::brings);
        }
        if (!due.isEmpty()) {
            rows.touch(positions(due), known.stampMicros());
        }
    }

    /**
     * Forgets producers, if it is time to. First they are strangers here, then their rows go: what
     * one of them sends meanwhile is read when this is done, as a new one's.
     */
    private void forget(Producers known, SourceHost.Rows rows, boolean isWanted) {
        if (!known.isLookDue(isWanted)) {
            return;
        }
        if (!rows.areDelivered()) {
            known.lookLater();
            return;
        }
        Map<String, Producers.Producer> due;
        Map<String, Long> numbers;
        synchronized (this) {
            due = known.due(this::rests);
            numbers = Producers.numbers(due);
            strike(due.keySet());
            leaving.addAll(numbers.keySet());
        }
        if (numbers.isEmpty()) {
            return;
        }
        Map<String, SourcePosition> kept = rows.forget(positions(numbers));
        synchronized (this) {
            kept.forEach((name, position) -> {
                known.keep(name, Objects.requireNonNull(due.get(name)), position.number());
                Lane lane = lanes.get(name);
                if (lane != null) {
                    lane.durableTo = known.number(name);
                }
            });
            leaving.clear();
        }
    }

    private static Map<String, SourcePosition> positions(Map<String, Long> numbers) {
        Map<String, SourcePosition> positions = new LinkedHashMap<>();
        numbers.forEach((name, number) -> positions.put(name, SourcePosition.of(number)));
        return positions;
    }

    /** Whether nothing is on its way of a producer, and none of the run's workers is to look. */
    private boolean rests(String name) {
        Lane lane = lanes.get(name);
        return !ready.contains(name)
                && (lane == null
                        || (lane.unread.isEmpty()
                                && lane.unsettled.isEmpty()
                                && lane.begun == null));
    }

    /** Whether what is on its way of a producer begins behind what there is of it. */
    private boolean brings(String name) {
        Lane lane = lanes.get(name);
        return lane != null
                && (!lane.unsettled.isEmpty()
                        || lane.unread.stream()
                                .anyMatch(ticket ->
                                        ticket.parcel().sequence() == lane.durableTo + 1));
    }

    @Override
    public List<String> gone() {
        synchronized (this) {
            List<String> now = List.copyOf(gone);
            gone.clear();
            return now;
        }
    }

    /** Producers can, others can't: a run of theirs goes on where the store is. */
    @Override
    public boolean canGoBack() {
        return false;
    }

    @Override
    public boolean isEndless() {
        return true;
    }

    /** Who hands a parcel in wakes the feed. */
    @Override
    public long askMicrosMax() {
        return 1_000_000;
    }

    @Override
    public boolean hasNews() {
        synchronized (this) {
            Producers known = producers;
            return !ready.isEmpty() || (known != null && known.isAnythingDue());
        }
    }

    @Override
    public PartitionReader open(
            String partition, @Nullable PartitionState taken, SourceHost newHost) {
        long position = taken == null ? 0 : taken.position().number();
        BegunParcel begun;
        boolean isOvertaken;
        synchronized (this) {
            Lane lane = lane(partition);
            lane.durableTo = position;
            begun = lane.begun;
            lane.begun = null;
            isOvertaken = begun != null && begun.number() != position;
            if (begun != null && isOvertaken) {
                // another run has read on meanwhile: these numbers may be other records
                lane.unsettled.remove(begun.ticket());
                settle(begun.ticket(), begun.ticket().cut(begun.number(), OVERTAKEN));
            }
        }
        if (isOvertaken) {
            signal();
        }
        return new ParcelReader(this, partition, position, newHost, isOvertaken ? null : begun);
    }

    private Lane lane(String partition) {
        return Objects.requireNonNull(
                lanes.get(partition), () -> "nothing was sent to " + partition);
    }

    /**
     * The next parcel of a partition, to be read from now on; null if there is none for now.
     *
     * @param position the number of the last record that was given to the run
     */
    @Nullable
    Ticket next(String partition, long position) {
        boolean hasSettled = false;
        try {
            synchronized (this) {
                if (leaving.contains(partition)) {
                    return null; // the position is that of a life which may be over
                }
                Lane lane = lane(partition);
                while (true) {
                    Ticket ticket = lane.unread.poll();
                    if (ticket == null) {
                        ready.remove(partition);
                        return null;
                    }
                    long sequence = ticket.parcel().sequence();
                    if (sequence > position + 1) {
                        settle(ticket, new Receipt.Gap(position + 1));
                        hasSettled = true;
                        continue;
                    }
                    ticket.begin(sequence == 0 ? position + 1 : sequence, position);
                    lane.unsettled.add(ticket);
                    return ticket;
                }
            }
        } finally {
            if (hasSettled) {
                signal();
            }
        }
    }

    /** All records of the ticket's parcel have been given to the run. */
    void read(String partition, Ticket ticket, long last) {
        synchronized (this) {
            ticket.readTo(last);
            settleDurable(lane(partition));
        }
        signal();
    }

    /**
     * A reader is closed within a parcel. The next one of the partition goes on with it, once all
     * that was given out is delivered; at the end of the run there is none.
     */
    void giveBack(String partition, BegunParcel begun) {
        synchronized (this) {
            lane(partition).begun = begun;
            ready.add(partition);
        }
    }

    /** Nothing of the ticket's parcel was given to the run, and nothing will be. */
    void refuse(String partition, Ticket ticket, Receipt receipt) {
        synchronized (this) {
            lane(partition).unsettled.remove(ticket);
            settle(ticket, receipt);
        }
        signal();
    }

    /** Whether the parser has another header than that reader's, and has its own from now on. */
    boolean changesHeader(ParcelReader reader) {
        boolean changes = !reader.equals(headerOwner);
        headerOwner = reader;
        return changes;
    }

    // ---- what the delivery does

    @Override
    public void rejected(String partition, Rejection rejection) {
        synchronized (this) {
            for (Ticket ticket : unsettled(partition)) {
                if (ticket.takes(rejection.offset())) {
                    ticket.reject(rejection);
                    return;
                }
            }
        }
    }

    @Override
    public void dropped(String partition, long place) {
        synchronized (this) {
            for (Ticket ticket : unsettled(partition)) {
                if (ticket.takes(place)) {
                    ticket.drop();
                    return;
                }
            }
        }
    }

    @Override
    public void durable(String partition, SourcePosition position) {
        Producers known = producers;
        if (known != null) {
            known.durable(partition, position.number());
        }
        synchronized (this) {
            Lane lane = lanes.get(partition);
            if (lane != null) {
                lane.durableTo = Math.max(lane.durableTo, position.number());
                settleDurable(lane);
            }
        }
        signal();
    }

    /** Of a producer that was forgotten since there are none. */
    private Collection<Ticket> unsettled(String partition) {
        Lane lane = lanes.get(partition);
        return lane == null ? List.of() : lane.unsettled;
    }

    private void settleDurable(Lane lane) {
        while (true) {
            Ticket ticket = lane.unsettled.peek();
            if (ticket == null || !ticket.isDurable(lane.durableTo)) {
                return;
            }
            lane.unsettled.remove();
            settle(ticket, ticket.taken(lane.durableTo));
        }
    }

    /** What waits gets its receipt; nothing is taken any more. */
    @Override
    public void close() {
        Producers known = producers;
        synchronized (this) {
            closed = true;
            if (known != null && host != null) {
                known.end();
            }
            for (Lane lane : lanes.values()) {
                lane.begun = null;
                cut(lane.unsettled, lane.durableTo);
                cut(lane.unread, lane.durableTo);
            }
        }
        signal();
    }

    private void cut(Collection<Ticket> tickets, long durableTo) {
        for (Ticket ticket : tickets) {
            settle(ticket, ticket.cut(durableTo, ENDED));
        }
        tickets.clear();
    }
}
