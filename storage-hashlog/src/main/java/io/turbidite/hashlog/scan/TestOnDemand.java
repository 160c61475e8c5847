package io.turbidite.hashlog.scan;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;
import java.util.function.Supplier;

/**
 * A test that is made when the first record is tested: a query that chains answer never compiles
 * what a scan would need, which costs more than a short walk. <em>Confined to one thread.</em>
 */
public final class TestOnDemand implements RecordTest {
    private final Supplier<RecordTest> source;
    private @Nullable RecordTest test;

    /** Gets a test from the source when the first record comes. */
    public TestOnDemand(Supplier<RecordTest> source) {
        this.source = source;
    }

    @Override
    public boolean matches(MemorySegment segment, long offset, int length) {
        RecordTest made = test;
        if (made == null) {
            made = source.get();
            test = made;
        }
        return made.matches(segment, offset, length);
    }
}
