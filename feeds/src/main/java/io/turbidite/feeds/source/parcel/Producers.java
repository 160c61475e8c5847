package io.turbidite.feeds.source.parcel;

import io.turbidite.core.time.Clock;
import io.turbidite.feeds.source.PartitionState;
import io.turbidite.feeds.source.SteadyTime;

import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
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
 *   <li>Who is seen, sends something or asks how far it is, whether the feed runs or not; or his
 *       row was written since.
 *   <li>Time counts for that only while the feed runs: who can't be served does not grow older. In
 *       the first hour of each run nobody who has a row is forgotten.
 *   <li>The time is that of the monotonic clock. What another process saw is known by the time in
 *       the row, which is at most {@link #NOTED_EVERY_MICROS} too old; it counts by the wall clock
 *       of now or by that of the process's start, whichever makes the row younger.
 *   <li>A row never gets an earlier time. One that is older by a day than its producer's sight is
 *       <em>due to be noted</em>: when he is seen, and when it is looked around.
 *   <li>Who is not taken anything of has no row; it goes as soon as its place is wanted.
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

    /** How soon it is looked again where nobody could be forgotten. */
    private static final long AGAIN_MICROS = 60_000_000;

    /** Rows of one turn. */
    private static final int AT_ONCE_MAX = 1_000;

    private final SteadyTime time;
    private final int countMax;

    // guarded by this
    private final Map<String, Producer> all = new HashMap<>();
    private final Set<String> toNote = new LinkedHashSet<>();

    /** Those who came first before the others. */
    private final Set<String> rowless = new LinkedHashSet<>();

    private boolean isRunning;

    /** When the last run ended, by the steady time. */
    private long endedMicros;

    /** How long there was no run, before {@link #endedMicros}. */
    private long restedMicros;

    // by the time of runs
    private long noneBeforeMicros;
    private long lookAtMicros;
    private long oldestAtMicros;

    /** What is known of one. */
    static final class Producer {
        /** Up to there it is durable, as far as that was told. */
        private long number;

        private boolean hasRow;

        /** What its row says at least, by the wall clock. */
        private long writtenMicros;

        /** By the time of runs; of one that is known only by its row, when that may have been. */
        private long seenMicros;

        private boolean isSeen;
    }

    /** Nobody, as of now. */
    public Producers(Clock clock) {
        this(clock, COUNT_MAX);
    }

    Producers(Clock clock, int countMax) {
        this.time = SteadyTime.of(clock);
        this.countMax = countMax;
        this.endedMicros = time.micros();
    }

    int countMax() {
        return countMax;
    }

    // ---- the time

    /** Stands still while there is no run. */
    private long runMicros() {
        return (isRunning ? time.micros() : endedMicros) - restedMicros;
    }

    /** What a row is to say that is written now: not too early, whichever way the clock is set. */
    long stampMicros() {
        return Math.max(time.micros(), time.clock().wallMicros());
    }

    /** What {@link #runMicros} is for those known only by their rows. */
    private long doubtMicros() {
        return runMicros() - Math.max(0, time.micros() - time.clock().wallMicros());
    }

    /** A run begins: these are the rows that there are. */
    synchronized void begin(Map<String, PartitionState> rows) {
        if (!isRunning) {
            restedMicros += time.micros() - endedMicros;
            isRunning = true;
        }
        noneBeforeMicros = runMicros() + LOOK_EVERY_MICROS;
        lookAtMicros = noneBeforeMicros;
        oldestAtMicros = noneBeforeMicros;
        all.values().forEach(one -> one.hasRow = false);
        rows.forEach(this::begin);
        rowless.clear();
        all.forEach((name, one) -> {
            if (!one.hasRow) {
                one.number = 0;
                rowless.add(name);
            }
        });
    }

    private void begin(String name, PartitionState row) {
        long written = row.writtenMicros();
        Producer one = all.get(name);
        if (one == null) {
            one = new Producer();
            all.put(name, one);
            // not behind now, though the clock may have been wrong when it was written, or is now
            one.seenMicros = Math.min(doubtMicros(), written + NOTED_EVERY_MICROS);
            if (written <= 0) {
                see(one); // nobody knows when it was
            }
        } else if (row.position().number() > one.number || written > one.writtenMicros) {
            see(one); // what an earlier run had left was delivered
        }
        one.hasRow = true;
        one.number = row.position().number();
        one.writtenMicros = written;
    }

    /** The run has ended; does nothing if there is none. */
    synchronized void end() {
        if (isRunning) {
            endedMicros = time.micros();
            isRunning = false;
        }
    }

    // ---- who there is

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

    /** Somebody has sent something, though it can't be taken now. */
    public void see(Parcel parcel) {
        String name = parcel.producer();
        if (name != null) {
            see(name);
        }
    }

    /**
     * A producer asks how far it is while there is no run: it is seen.
     *
     * @return -1: it is not known now
     */
    public long ask(String owner, String producer) {
        see(Parcel.producer(owner, producer));
        return -1;
    }

    /** The producer has sent something, or asked how far it is. */
    synchronized void see(String name) {
        Producer one = all.get(name);
        if (one == null) {
            return; // it comes to be known by what is read of it
        }
        see(one);
        noteIfDue(name, one, 0);
    }

    private void see(Producer one) {
        one.isSeen = true;
        one.seenMicros = runMicros();
    }

    private void noteIfDue(String name, Producer one, long unseenMicros) {
        if (one.hasRow && stampMicros() - unseenMicros - one.writtenMicros >= NOTED_EVERY_MICROS) {
            toNote.add(name);
        }
    }

    /** Makes a new producer known, if there are not as many as may be. */
    synchronized boolean admit(String name) {
        if (all.size() >= countMax) {
            return false;
        }
        Producer one = new Producer();
        see(one);
        all.put(name, one);
        rowless.add(name);
        return true;
    }

    /** All of the producer up to that number is durable: its row was written, or is to be. */
    synchronized void durable(String name, long number) {
        Producer one = all.get(name);
        if (one != null) {
            hasRow(name, one, number);
            one.writtenMicros = Math.max(one.writtenMicros, time.clock().wallMicros());
            noteIfDue(name, one, 0);
        }
    }

    private void hasRow(String name, Producer one, long number) {
        see(one);
        one.number = Math.max(one.number, number);
        if (!one.hasRow) {
            one.hasRow = true;
            rowless.remove(name);
        }
    }

    // ---- who goes

    /**
     * Whether it is to be looked around now. Cheap.
     *
     * @param isWanted whether somebody wants a place, and there is none
     */
    synchronized boolean isLookDue(boolean isWanted) {
        long now = runMicros();
        return now >= noneBeforeMicros
                && now >= (isWanted ? Math.min(lookAtMicros, oldestAtMicros) : lookAtMicros);
    }

    /** Nobody can be forgotten now. */
    synchronized void lookLater() {
        lookAtMicros = runMicros() + AGAIN_MICROS;
        oldestAtMicros = lookAtMicros;
    }

    /** Whether {@link #due} or {@link #toNote} may have something. Cheap. */
    synchronized boolean isAnythingDue() {
        return !toNote.isEmpty() || isLookDue(false);
    }

    /**
     * Takes those out that are to be forgotten, and those without a row; not all at once. To be
     * called when {@link #isLookDue}.
     *
     * @param rests whether nothing is on its way of a producer
     */
    synchronized Map<String, Producer> due(Predicate<String> rests) {
        long now = runMicros();
        long doubt = doubtMicros();
        long oldest = 0;
        Map<String, Producer> due = new LinkedHashMap<>();
        lookAtMicros = now + LOOK_EVERY_MICROS;
        for (Map.Entry<String, Producer> entry : all.entrySet()) {
            Producer one = entry.getValue();
            long age = (one.isSeen ? now : doubt) - one.seenMicros;
            if ((age >= FORGOTTEN_AFTER_MICROS || !one.hasRow) && rests.test(entry.getKey())) {
                due.put(entry.getKey(), one);
                if (due.size() == AT_ONCE_MAX) {
                    lookAtMicros = now; // the others come next
                    break;
                }
                continue;
            }
            oldest = Math.max(oldest, age);
            if (one.isSeen) {
                noteIfDue(entry.getKey(), one, age);
            }
        }
        oldestAtMicros = now + Math.max(AGAIN_MICROS, FORGOTTEN_AFTER_MICROS - oldest);
        due.keySet().forEach(this::remove);
        return due;
    }

    /**
     * Takes producers without a row out, those who came first.
     *
     * @param countMax how many at most
     * @param rests whether nothing is on its way of a producer
     */
    synchronized Set<String> vacate(int countMax, Predicate<String> rests) {
        Set<String> left = new LinkedHashSet<>();
        Iterator<String> names = rowless.iterator();
        while (left.size() < countMax && names.hasNext()) {
            String name = names.next();
            if (rests.test(name)) {
                left.add(name);
            }
        }
        left.forEach(this::remove);
        return left;
    }

    private void remove(String name) {
        all.remove(name);
        toNote.remove(name);
        rowless.remove(name);
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

    /** The producer stays: its row says another number, so somebody has seen it. */
    synchronized void keep(String name, Producer one, long number) {
        hasRow(name, all.computeIfAbsent(name, kept -> one), number);
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
        long now = stampMicros();
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
