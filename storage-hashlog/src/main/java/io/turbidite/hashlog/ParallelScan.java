package io.turbidite.hashlog;

import io.turbidite.core.Cleanup;
import io.turbidite.core.ClosedException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.task.Tasks;
import io.turbidite.hashlog.chain.ChainHeads;
import io.turbidite.hashlog.log.LogReader;
import io.turbidite.hashlog.log.LogShape;
import io.turbidite.hashlog.scan.RangeScan;
import io.turbidite.hashlog.scan.ScanPart;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;

/**
 * Runs one query by several workers: parts are cut at page borders, and each worker takes the next
 * piece. A part with an index is one piece, or one piece for each chain of the property. <em>Used
 * once, by one thread.</em>
 */
final class ParallelScan {
    private final HashLog log;
    private final QueryPlan plan;
    private final List<Piece> pieces;
    private final AtomicInteger nextPiece = new AtomicInteger();
    private final AtomicInteger running = new AtomicInteger();
    private final AtomicLong left;
    private volatile @Nullable Throwable failure;

    ParallelScan(HashLog log, LogQuery query) {
        this.log = log;
        try (LogReader reader = log.reader("parallel query")) {
            reader.protect();
            this.plan = QueryPlan.of(QueryPlan.aligned(query, reader), log, reader);
        }
        this.pieces = pieces(plan.parts(), log.log().shape(), log.registry().chainHeads());
        this.left = new AtomicLong(query.limit());
    }

    /** The piece that a worker takes at once: a part, or its records on one chain. */
    private record Piece(ScanPart part, int chain) {}

    private static List<Piece> pieces(List<ScanPart> parts, LogShape shape, ChainHeads heads) {
        List<Piece> pieces = new ArrayList<>();
        for (ScanPart part : parts) {
            long top = part.to();
            while (!part.isIndexed() && shape.pageOf(top - 1) > shape.pageOf(part.from())) {
                long border = shape.startOf(shape.pageOf(top - 1));
                pieces.add(whole(new ScanPart(border, top, ScanPart.SCANNED)));
                top = border;
            }
            if (part.isIndexed() && part.run() == null) {
                for (int chain = 0; chain < heads.count(part.psfId()); chain++) {
                    pieces.add(new Piece(part, chain));
                }
            } else {
                pieces.add(whole(new ScanPart(part.from(), top, part.psfId(), part.run())));
            }
        }
        return pieces;
    }

    private static Piece whole(ScanPart part) {
        return new Piece(part, History.ALL_CHAINS);
    }

    /** Runs the workers. Returns when all are done, and throws the first failure. */
    void run(int workerCount, Supplier<RecordSink> sinks) {
        if (workerCount < 1 || workerCount > 256) {
            throw new InvalidRequestException(
                    "%d workers, but 1 to 256 are possible".formatted(workerCount));
        }
        Tasks tasks = log.tasks();
        running.set(workerCount);
        List<Tasks.Worker> workers = new ArrayList<>();
        try (Cleanup _ = Cleanup.ofAll(workers, Tasks.Worker::close)) {
            for (int i = 0; i < workerCount; i++) {
                Work work = new Work(sinks.get());
                workers.add(tasks.start("hashlog-scan-" + i, 1_000_000, work::step));
            }
            tasks.await(() -> running.get() == 0);
        }
        switch (failure) {
            case null -> {}
            case Error e -> throw e;
            case RuntimeException e -> throw e;
            case Throwable e -> throw new IllegalStateException(e);
        }
    }

    /** One worker's share. */
    private final class Work {
        private final RecordSink sink;
        private boolean done;

        Work(RecordSink sink) {
            this.sink = sink;
        }

        /** Takes one piece. */
        boolean step() {
            if (done) {
                return false;
            }
            int piece =
                    failure == null && left.get() > 0 ? nextPiece.getAndIncrement() : pieces.size();
            if (piece < pieces.size()) {
                try {
                    scan(pieces.get(piece));
                } catch (RuntimeException | Error e) {
                    failure = e; // an Error too: the caller waits for this worker
                }
                return true;
            }
            done = true;
            running.decrementAndGet();
            log.tasks().signal();
            return false;
        }

        private void scan(Piece piece) {
            try (Callers.Caller caller = log.callers().open("a parallel query")) {
                caller.enter();
                try {
                    scan(piece, caller);
                } finally {
                    caller.exit();
                }
            }
        }

        private boolean isWanted(Callers.Caller caller) {
            caller.checkOpen();
            return failure == null;
        }

        private void scan(Piece piece, Callers.Caller caller) {
            try (LogReader reader = log.reader("parallel query");
                    RangeScan scan = new RangeScan(
                            reader,
                            List.of(piece.part),
                            plan.newTests(),
                            log.history().ways(log, reader, plan, piece.chain))) {
                reader.protect();
                while (isWanted(caller) && scan.next() && left.getAndDecrement() > 0) {
                    sink.accept(
                            scan.address(),
                            scan.segment(),
                            scan.payloadOffset(),
                            scan.payloadBytes());
                }
            } catch (ClosedException e) {
                throw e;
            } catch (InvalidRequestException gone) {
                if (log.log().begin() <= piece.part.from()) {
                    throw gone;
                }
            }
        }
    }
}
