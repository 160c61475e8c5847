package io.turbidite.lsm.harness;

import io.turbidite.core.bytes.Slice;
import io.turbidite.core.scan.IndexCursor;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.RecordRun;
import io.turbidite.core.scan.RecordStream;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;

/** Views whose cursors of an index have a bug: does a check find it? */
public final class BentViews {
    private BentViews() {}

    /** A view that shows what {@code view} does, but for its searches in one index. */
    public static ReadView of(ReadView view, String index, UnaryOperator<IndexCursor> bug) {
        return (ReadView) Proxy.newProxyInstance(
                BentViews.class.getClassLoader(),
                new Class<?>[] {ReadView.class},
                (self, method, given) -> {
                    try {
                        Object answer = method.invoke(view, given);
                        return answer instanceof IndexCursor cursor && index.equals(given[1])
                                ? bug.apply(cursor)
                                : answer;
                    } catch (InvocationTargetException failed) {
                        throw failed.getTargetException();
                    }
                });
    }

    /** A view that shows what {@code view} does, but for its scans in no order. */
    public static ReadView ofScans(ReadView view, UnaryOperator<RecordStream> bug) {
        return (ReadView) Proxy.newProxyInstance(
                BentViews.class.getClassLoader(),
                new Class<?>[] {ReadView.class},
                (self, method, given) -> {
                    try {
                        Object answer = method.invoke(view, given);
                        return method.getName().equals("scanUnordered")
                                ? bug.apply((RecordStream) answer)
                                : answer;
                    } catch (InvocationTargetException failed) {
                        throw failed.getTargetException();
                    }
                });
    }

    /**
     * Each run has its first record alone, and the stream says that it stands there; it goes on
     * behind the last.
     */
    public static RecordStream withShortRuns(RecordStream sound) {
        Slice first = new Slice();
        AtomicBoolean isBent = new AtomicBoolean();
        return (RecordStream) Proxy.newProxyInstance(
                BentViews.class.getClassLoader(),
                new Class<?>[] {RecordStream.class},
                (self, method, given) -> {
                    if (method.getName().equals("record") && isBent.get()) {
                        return first;
                    }
                    Object answer = method.invoke(sound, given);
                    if (method.getName().startsWith("next")) {
                        isBent.set(method.getName().equals("nextRun"));
                    }
                    if (method.getName().equals("nextRun") && Boolean.TRUE.equals(answer)) {
                        RecordRun run = (RecordRun) given[0];
                        run.begin(run.record(0, first));
                    }
                    return answer;
                });
    }

    /** Shows each entry twice. */
    public static IndexCursor twice(IndexCursor cursor) {
        return new Bent(cursor, true, entry -> false);
    }

    /** Shows all but some entries. */
    public static IndexCursor without(IndexCursor cursor, Predicate<IndexCursor> forgotten) {
        return new Bent(cursor, false, forgotten);
    }

    private static final class Bent implements IndexCursor {
        private final IndexCursor sound;
        private final boolean isTwice;
        private final Predicate<IndexCursor> forgotten;
        private boolean isFirst;

        Bent(IndexCursor sound, boolean isTwice, Predicate<IndexCursor> forgotten) {
            this.sound = sound;
            this.isTwice = isTwice;
            this.forgotten = forgotten;
        }

        @Override
        public boolean next() {
            if (isTwice && isFirst) {
                isFirst = false;
                return true;
            }
            do {
                isFirst = sound.next();
            } while (isFirst && forgotten.test(sound));
            return isFirst;
        }

        @Override
        public boolean previous() {
            boolean isThere;
            do {
                isThere = sound.previous();
            } while (isThere && forgotten.test(sound));
            return isThere;
        }

        @Override
        public void seek(Slice key) {
            sound.seek(key);
        }

        @Override
        public void seekEnd() {
            sound.seekEnd();
        }

        @Override
        public Slice secondaryKey() {
            return sound.secondaryKey();
        }

        @Override
        public Slice primaryKey() {
            return sound.primaryKey();
        }

        @Override
        public long timestamp() {
            return sound.timestamp();
        }

        @Override
        public long checkedUntil() {
            return sound.checkedUntil();
        }

        @Override
        public double distance() {
            return sound.distance();
        }

        @Override
        public void close() {
            sound.close();
        }
    }
}
