package io.turbidite.feeds;

import io.turbidite.core.Cleanup;
import io.turbidite.feeds.flow.WorkerPolicy;

import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;

/**
 * The parse workers of a run: who is there, who comes and who goes, as a {@link WorkerPolicy} says.
 *
 * <p>A worker that goes is first <em>dismissed</em>: it is given no partition more. Of a source
 * that has an end it reads the one that it has to its end; of an endless one it gives up those that
 * it has. When all that it has read is delivered it is let go. The first worker stays.
 *
 * <p><em>Confined to the thread of the run.</em>
 */
final class Crew {
    /** How soon partitions are tried again that could not be moved; each time twice as late. */
    private static final long LEVEL_NANOS = 100_000_000;

    /** How often the crew looks whether a worker has few, because those that it had have ended. */
    private static final long LOOK_NANOS = 1_000_000_000;

    private final RunShare share;
    private final WorkerPolicy policy;
    private final IntFunction<ParseWorker> hire;
    private final boolean isEndless;

    /** At least one, the first of which stays. */
    private final List<ParseWorker> staying = new ArrayList<>();

    private final List<ParseWorker> leaving = new ArrayList<>();

    /** Both. */
    private final List<ParseWorker> all = new ArrayList<>();

    private int wanted;
    private boolean hasStarted;
    private long askedNanos;
    private boolean isLevel = true;
    private long levelledNanos;

    /** How soon what could not be moved is tried again: each try looks at each partition. */
    private long levelNanos = LEVEL_NANOS;

    /** What those have read that were let go. */
    private long bytesBefore;

    /**
     * A crew of one, who does nothing by itself until {@link #oversee}.
     *
     * @param hire makes the worker of a number, from 1
     */
    Crew(RunShare share, WorkerPolicy policy, IntFunction<ParseWorker> hire) {
        this.share = share;
        this.policy = policy;
        this.hire = hire;
        this.isEndless = share.parts.source().isEndless();
        this.wanted = policy.workersMin();
        this.askedNanos = share.meters.nanos();
        this.levelledNanos = askedNanos;
        add(hire.apply(1));
    }

    private void add(ParseWorker worker) {
        staying.add(worker);
        all.add(worker);
    }

    ParseWorker first() {
        return staying.getFirst();
    }

    /** Those who are given partitions. */
    List<ParseWorker> staying() {
        return staying;
    }

    /** Those who leave included. */
    List<ParseWorker> all() {
        return all;
    }

    boolean hasStarted() {
        return hasStarted;
    }

    /** Asks the policy when it is due, and has who comes and goes by that. */
    void oversee() {
        letGo();
        decide();
        employ();
        if (isEndless) {
            level();
        }
    }

    private void level() {
        long now = share.meters.nanos();
        if (now - levelledNanos >= (isLevel ? LOOK_NANOS : levelNanos)) {
            levelledNanos = now;
            levelNanos = isLevel ? LEVEL_NANOS : Math.min(2 * levelNanos, LOOK_NANOS);
            isLevel = share.deal.level(staying);
        }
    }

    /** Partitions may have to be moved, at once. */
    private void unlevel() {
        isLevel = false;
        levelNanos = LEVEL_NANOS;
        levelledNanos = share.meters.nanos() - LEVEL_NANOS;
    }

    /** Has as many workers as are wanted, but no more than there are partitions. */
    private void employ() {
        if (!hasStarted) {
            hasStarted = true;
            first().start();
        }
        int most = Math.min(wanted, Math.max(1, countToRead()));
        while (staying.size() < most && all.size() < policy.workersMax()) {
            ParseWorker more = hire.apply(freeNumber());
            add(more);
            more.start();
            unlevel();
        }
    }

    private int countToRead() {
        return share.deal.countToRead(staying.size());
    }

    private int freeNumber() {
        int number = 2;
        while (isTaken(number)) {
            number++;
        }
        return number;
    }

    private boolean isTaken(int number) {
        for (ParseWorker worker : all) {
            if (worker.number() == number) {
                return true;
            }
        }
        return false;
    }

    private void decide() {
        long now = share.meters.nanos();
        if (now - askedNanos < policy.everyNanos()) {
            return;
        }
        askedNanos = now;
        long[] busy = new long[staying.size()];
        for (int i = 0; i < busy.length; i++) {
            busy[i] = staying.get(i).takeBusyNanos(now);
        }
        boolean mayAdd = countToRead() > busy.length && all.size() < policy.workersMax();
        switch (policy.decide(busy, mayAdd, now)) {
            case ADD -> wants(busy.length + 1);
            case KEEP -> {}
            case TAKE -> {
                wants(busy.length - 1);
                dismiss();
            }
        }
    }

    private void wants(int count) {
        wanted = count;
        unlevel();
    }

    /** The one who has least in hand, of several the last. */
    private void dismiss() {
        ParseWorker least = staying.getLast();
        for (ParseWorker worker : staying.subList(1, staying.size())) {
            boolean isFree = worker.hasFinished() && !least.hasFinished();
            if (isEndless ? share.deal.count(worker) < share.deal.count(least) : isFree) {
                least = worker;
            }
        }
        staying.remove(least);
        leaving.add(least);
        share.deal.dismiss(least);
    }

    /** Lets go of those who were dismissed and have nothing any more. */
    private void letGo() {
        for (int i = leaving.size() - 1; i >= 0; i--) {
            ParseWorker worker = leaving.get(i);
            if (worker.isIdle() && worker.isDrained() && hasNone(worker)) {
                leaving.remove(i);
                all.remove(worker);
                share.deal.forget(worker);
                new Cleanup()
                        .add(worker::stop)
                        .add(worker::closeReaders)
                        .add(worker::drain)
                        .add(worker::close)
                        .run();
                bytesBefore += worker.bytesRead();
            }
        }
    }

    private boolean hasNone(ParseWorker worker) {
        return isEndless ? share.deal.hasNone(worker) : worker.hasFinished();
    }

    /** While nothing is read: whether there is something to decide or to do all the same. */
    boolean isDue() {
        long now = share.meters.nanos();
        return (!leaving.isEmpty() && now - levelledNanos >= levelNanos)
                || (staying.size() > policy.workersMin()
                        && now - askedNanos >= policy.everyNanos());
    }

    /** What was read of the source, by those too who were let go. */
    long bytesRead() {
        long bytes = bytesBefore;
        for (ParseWorker worker : all) {
            bytes += worker.bytesRead();
        }
        return bytes;
    }
}
