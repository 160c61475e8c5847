package io.turbidite.bench.pm;

import io.turbidite.core.scan.FetchOptions;
import io.turbidite.core.scan.KeyBatch;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.RecordStream;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * Lookups whose keys are dealt out before they begin (+PAR of PERS24 §5.3): each thread has as
 * many as the others, whoever is fast. <em>Confined to one thread</em>, but for its own threads.
 */
final class DealtLookups implements AutoCloseable {
    private final ReadView view;
    private final int threadCount;
    private final ExecutorService threads;

    /**
     * @param threadCount the caller included
     */
    DealtLookups(ReadView view, int threadCount) {
        this.view = view;
        this.threadCount = threadCount;
        this.threads = Executors.newFixedThreadPool(threadCount - 1);
    }

    /** The records of some keys as one number, whatever their order. */
    long records(KeyBatch keys, FetchOptions options) {
        int each = Math.max(1, (keys.size() + threadCount - 1) / threadCount);
        List<Future<Long>> others = new ArrayList<>();
        for (int from = each; from < keys.size(); from += each) {
            KeyBatch part = keys.part(from, Math.min(keys.size(), from + each));
            others.add(threads.submit(() -> sum(part, options)));
        }
        long sum = sum(keys.part(0, Math.min(keys.size(), each)), options);
        for (Future<Long> other : others) {
            sum += await(other);
        }
        return sum;
    }

    private static long await(Future<Long> other) {
        try {
            return other.get();
        } catch (ExecutionException failed) {
            throw new IllegalStateException(failed.getCause());
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(interrupted);
        }
    }

    private long sum(KeyBatch keys, FetchOptions options) {
        long sum = 0;
        try (RecordStream found = view.fetch(0, keys, options)) {
            while (found.next()) {
                sum += Operations.mixed(0, StoreRival.number(found.key()));
            }
        }
        return sum;
    }

    @Override
    public void close() {
        threads.shutdownNow();
    }
}
