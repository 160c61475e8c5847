package io.turbidite.feeds;

import io.turbidite.feeds.flow.WorkerPolicy;

import java.util.SplittableRandom;

/** One to four workers, about whose number it changes its mind all the time. */
final class ErraticPolicy implements WorkerPolicy {
    private final SplittableRandom random;

    /** Of a hundred times that it is asked. */
    private final int changePercent;

    int addedCount;
    int takenCount;

    ErraticPolicy(SplittableRandom random) {
        this.random = random.split();
        this.changePercent = 5 + random.nextInt(60);
    }

    @Override
    public int workersMin() {
        return 1;
    }

    @Override
    public int workersMax() {
        return 4;
    }

    @Override
    public long everyNanos() {
        return 0;
    }

    @Override
    public Change decide(long[] busyNanos, boolean mayAdd, long nanos) {
        if (random.nextInt(100) >= changePercent) {
            return Change.KEEP;
        }
        if (random.nextBoolean()) {
            addedCount += mayAdd ? 1 : 0;
            return mayAdd ? Change.ADD : Change.KEEP;
        }
        takenCount += busyNanos.length > 1 ? 1 : 0;
        return busyNanos.length > 1 ? Change.TAKE : Change.KEEP;
    }
}
