package io.turbidite.feeds.source.parcel;

import io.turbidite.core.time.Clock;
import io.turbidite.feeds.source.PartitionState;
import io.turbidite.feeds.source.SteadyTime;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;

/**
 * The producers of a feed: up to which number each was taken, and when it was seen last. It is kept
 * from run to run of a process, so that a run that begins anew forgets nobody whom this one saw.
 *
 * <ol>
 *   <li>A producer is <em>forgotten</em> when it was not seen for {@link #FORGOTTEN_AFTER_MICROS}.
 *       From then on it is a new one, whose first record has the number 1.
 *   <li>Who is seen, sends something or asks how far it is. That is known by the monotonic clock;
 *       the wall clock is asked once, when the process begins.
 *   <li>What another process saw is known by the time in the row, which is at most {@link
 *       #NOTED_EVERY_MICROS} too old: a producer whose row is older is <em>due to be noted</em>
 *       when it is seen. Until then its row has a day more.
 *   <li>Who is not taken anything of has no row; it goes as soon as its place is wanted.
 *   <li>In its first hour a process forgets nobody, unless there are as many as may be: a clock
 *       that was wrong when the machine started is set by then, and who is at work was seen.
 * </ol>
 *
 * <p><em>Thread-safe by its lock</em>, which is taken last.
 */
public final class Producers {
    /** Those of a feed. */
    public static final int COUNT_MAX = 100_000;

    /** A producer that was not seen for so long is forgotten: seven days. */
    public static final long FORGOTTEN_AFTER_MICROS = 604_800_000_000L;

    /** The time in a row is not older than this when its producer was seen: a day. */
    static final long NOTED_EVERY_MICROS = 24 * 3_600_000_000L;

    /** How often it is looked for those to be forgotten; also how long the first hour is. */
    private static final long LOOK_EVERY_MICROS = 3_600_000_000L;

    /** How soon those are looked at again that could not be forgotten. */
    private static final long AGAIN_MICROS = 60_000_000;

    /** Rows of one write. */
    private static final int AT_ONCE_MAX = 1_000;

    private final SteadyTime time;
    private final int countMax;

    // guarded by this
    private final Map<String, Producer> all = new HashMap<>();
    private final Set<String> toNote = new LinkedHashSet<>();

    /** Those who have a lane or had one, without a row: see {@link #due}. */
    private boolean mayLackRows;

    private long lookAtMicros;

    /** No producer is to be forgotten before this. */
    private long oldestAtMicros;

    /** What is known of one. */
    static final class Producer {
        /** Up to there it is durable, as far as that was told. */
        private long number;

        private boolean hasRow;

        /** By the steady time, when its row was written last. */
        private long writtenMicros;

        private long seenMicros;
    }

    /** Nobody, as of now. */
    public Producers(Clock clock) {
        this(clock, COUNT_MAX);
    }

    Producers(Clock clock, int countMax) {
        this.time = SteadyTime.of(clock);
        this.countMax = countMax;
        this.lookAtMicros = time.micros() + LOOK_EVERY_MICROS;
    }

    int countMax() {
        return countMax;
    }

    /** A run begins: these are the rows that there are. */
    synchronized void begin(Map<String, PartitionState> rows) {
        long now = time.micros();
        all.values().forEach(one -> {
            one.hasRow = false;
            one.number = 0;
        });
        rows.forEach((name, state) -> {
            long written = state.writtenMicros();
            boolean isDated = written > 0 && written - now < NOTED_EVERY_MICROS;
            Producer one = all.computeIfAbsent(name, added -> {
                Producer found = new Producer();
                found.seenMicros = isDated ? Math.min(now, written + NOTED_EVERY_MICROS) : now;
                return found;
            });
            one.hasRow = true;
            one.number = state.position().number();
            one.writtenMicros = isDated ? Math.min(now, written) : 0;
            if (!isDated) {
                toNote.add(name); // seen now, for every process to come
            }
        });
        mayLackRows = true;
        oldestAtMicros = 0;
    }

    synchronized int count() {
        return all.size();
    }

    /** Whether it counts as one of those that there are. */
    synchronized boolean has(String name) {
        return all.containsKey(name);
    }

    /** The last number of the producer that is durable for sure; 0 if there is none. */
    synchronized long number(String name) {
        Producer one = all.get(name);
        return one == null ? 0 : one.number;
    }

    /** The producer has sent something, or asked how far it is. */
    synchronized void see(String name) {
        Producer one = all.get(name);
        if (one == null) {
            return; // it comes to be known by what is read of it
        }
        long now = time.micros();
        one.seenMicros = now;
        if (one.hasRow && now - one.writtenMicros >= NOTED_EVERY_MICROS) {
            toNote.add(name);
        }
    }

    /** Makes a new producer known, if there are not as many as may be. */
    synchronized boolean admit(String name) {
        if (all.size() >= countMax) {
            return false;
        }
        Producer one = new Producer();
        one.seenMicros = time.micros();
        all.put(name, one);
        mayLackRows = true;
        return true;
    }

    /** All of the producer up to that number is durable: its row was written, or is to be. */
    synchronized void durable(String name, long number) {
        Producer one = all.get(name);
        if (one != null) {
            one.number = Math.max(one.number, number);
            one.hasRow = true;
            one.writtenMicros = time.micros();
        }
    }

    /** Whether {@link #due} or {@link #toNote} may have something. Cheap. */
    synchronized boolean isAnythingDue() {
        return !toNote.isEmpty() || time.micros() >= lookAtMicros;
    }

    /**
     * Takes those out that are to be forgotten, the longest unseen first; not all at once.
     *
     * @param isWanted whether somebody wants a place, and there is none
     * @param rests whether nothing is on its way of a producer
     */
    synchronized Map<String, Producer> due(boolean isWanted, Predicate<String> rests) {
        long now = time.micros();
        if (isWanted ? !mayLackRows && now < oldestAtMicros : now < lookAtMicros) {
            return Map.of();
        }
        lookAtMicros = now + LOOK_EVERY_MICROS;
        mayLackRows = false;
        long oldest = now;
        List<Map.Entry<String, Producer>> found = new ArrayList<>();
        for (Map.Entry<String, Producer> entry : all.entrySet()) {
            Producer one = entry.getValue();
            boolean isOld = now - one.seenMicros >= FORGOTTEN_AFTER_MICROS;
            if ((isOld || !one.hasRow) && rests.test(entry.getKey())) {
                found.add(entry);
            } else {
                oldest = Math.min(oldest, one.seenMicros);
                mayLackRows |= !one.hasRow;
            }
        }
        oldestAtMicros = oldest + FORGOTTEN_AFTER_MICROS;
        found.sort(Comparator.comparingLong(entry -> entry.getValue().seenMicros));
        Map<String, Producer> due = new LinkedHashMap<>();
        for (Map.Entry<String, Producer> entry : found) {
            if (due.size() == AT_ONCE_MAX) {
                oldestAtMicros = 0;
                lookAtMicros = isWanted ? lookAtMicros : 0; // the rest comes next
                break;
            }
            due.put(entry.getKey(), entry.getValue());
        }
        due.keySet().forEach(all::remove);
        toNote.removeAll(due.keySet());
        return due;
    }

    /** Those of which a row may have to be deleted, with the number that it then says. */
    static Map<String, Long> numbers(Map<String, Producer> due) {
        Map<String, Long> numbers = new LinkedHashMap<>();
        due.forEach((name, one) -> {
            if (one.hasRow) {
                numbers.put(name, one.number);
            }
        });
        return numbers;
    }

    /** The producer stays, for its row does; it is looked at again a little later. */
    synchronized void keep(String name, Producer one) {
        all.putIfAbsent(name, one);
        oldestAtMicros = 0;
        lookAtMicros = Math.min(lookAtMicros, time.micros() + AGAIN_MICROS);
    }

    /**
     * Takes those whose rows are to be written anew, with the numbers that they say; not all at
     * once. Before what they have sent is read: who has an answer is noted.
     *
     * @param brings whether what is on its way of a producer will write its row
     */
    synchronized Map<String, Long> toNote(Predicate<String> brings) {
        if (toNote.isEmpty()) {
            return Map.of();
        }
        long now = time.micros();
        Map<String, Long> numbers = new LinkedHashMap<>();
        for (Iterator<String> names = toNote.iterator();
                names.hasNext() && numbers.size() < AT_ONCE_MAX; ) {
            String name = names.next();
            Producer one = all.get(name);
            if (one != null && one.hasRow && now - one.writtenMicros >= NOTED_EVERY_MICROS) {
                if (brings.test(name)) {
                    continue;
                }
                one.writtenMicros = now;
                numbers.put(name, one.number);
            }
            names.remove();
        }
        return numbers;
    }
}
