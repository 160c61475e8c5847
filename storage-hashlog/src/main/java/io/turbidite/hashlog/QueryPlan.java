package io.turbidite.hashlog;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.hashlog.log.HybridLog;
import io.turbidite.hashlog.log.LogReader;
import io.turbidite.hashlog.log.LogScan;
import io.turbidite.hashlog.log.LogShape;
import io.turbidite.hashlog.log.TimeMark;
import io.turbidite.hashlog.parse.ParserSpec;
import io.turbidite.hashlog.psf.PropertyValue;
import io.turbidite.hashlog.psf.PsfDefinition;
import io.turbidite.hashlog.psf.PsfFunctions;
import io.turbidite.hashlog.psf.PsfSet;
import io.turbidite.hashlog.psf.RecordPredicate;
import io.turbidite.hashlog.registry.RegisteredPsf;
import io.turbidite.hashlog.registry.RegistryState;
import io.turbidite.hashlog.scan.PropertyTest;
import io.turbidite.hashlog.scan.RangeScan;
import io.turbidite.hashlog.scan.RecordTest;
import io.turbidite.hashlog.scan.ScanPart;
import io.turbidite.hashlog.scan.ScanPlan;
import io.turbidite.hashlog.scan.TestOnDemand;

import org.jspecify.annotations.Nullable;

import java.util.List;

/**
 * A query of a log at one moment: names resolved, ranges cut to the existing addresses.
 * <em>Immutable.</em>
 */
final class QueryPlan {
    private static final RecordTest ANY = (segment, offset, length) -> true;

    private final ParserSpec parser;
    private final PsfFunctions functions;
    private final @Nullable PsfDefinition definition;
    private final @Nullable PropertyValue value;
    private final @Nullable String expression;
    private final List<ScanPart> parts;

    private QueryPlan(LogQuery query, RegistryState registry, PsfFunctions functions, Range range) {
        this.parser = registry.parser();
        this.functions = functions;
        this.expression = query.expression();
        List<RegisteredPsf> psfs = List.of();
        if (query.psf() != null && query.value() != null) {
            RegisteredPsf named = named(registry, query.psf());
            definition = named.definition();
            value = PropertyValue.of(named.definition(), query.value());
            psfs = registry.psfs().stream()
                    .filter(psf -> psf.definition().equals(named.definition()))
                    .toList();
        } else {
            definition = null;
            value = null;
        }
        this.parts = range.isEmpty()
                ? List.of()
                : ScanPlan.of(query.scanOnly() ? List.of() : psfs, range.from(), range.to());
        if (expression != null) {
            newResidual(); // a wrong expression is refused now, even where no record is looked at
        }
    }

    /** The addresses that a query looks at. */
    private record Range(long from, long to) {
        boolean isEmpty() {
            return to <= from;
        }
    }

    /**
     * Plans a query that starts at the start of a record ({@link #aligned}); the reader is
     * protected.
     */
    static QueryPlan of(LogQuery query, HashLog log, LogReader reader) {
        return new QueryPlan(query, log.registry(), log.functions(), rangeOf(query, reader));
    }

    /**
     * The query from the start of a record on: for an address within a record, from the next
     * record. The reader is protected.
     */
    static LogQuery aligned(LogQuery query, LogReader reader) {
        long from = recordAt(query.from(), reader);
        return from == query.from() ? query : query.between(from, Math.max(from, query.to()));
    }

    /** The lowest address of a record at or above {@code address}, as far as there are records. */
    private static long recordAt(long address, LogReader reader) {
        HybridLog log = reader.log();
        LogShape shape = log.shape();
        if (address >= log.safeTail()) {
            return address; // of a record that is to come: whoever waits for it asks again
        }
        while (true) {
            long begin = log.begin();
            long first = Math.max(begin, shape.firstRecordOf(shape.pageOf(address)));
            if (address <= first) {
                return first;
            }
            try {
                LogScan scan = new LogScan(reader);
                scan.start(first, address);
                while (scan.next()) {
                    assert scan.address() < address : scan.address();
                }
                return scan.position();
            } catch (InvalidRequestException gone) {
                if (log.begin() == begin) {
                    throw gone;
                }
                reader.refresh(); // truncated under us: it begins elsewhere now
            }
        }
    }

    /** The active PSF of this name, else the last PSF that had it. */
    static RegisteredPsf named(RegistryState registry, String name) {
        RegisteredPsf found = registry.active(name);
        if (found != null) {
            return found;
        }
        for (RegisteredPsf psf : registry.psfs().reversed()) {
            if (psf.name().equals(name)) {
                return psf;
            }
        }
        throw new InvalidRequestException("there is no PSF '%s'; there are %s"
                .formatted(
                        name, registry.psfs().stream().map(RegisteredPsf::name).toList()));
    }

    private static Range rangeOf(LogQuery query, LogReader reader) {
        HybridLog log = reader.log();
        long from = Math.max(query.from(), log.begin());
        long to = Math.min(query.to(), log.safeTail());
        if (to <= from) {
            return new Range(from, from);
        }
        LogShape shape = log.shape();
        long first = shape.pageOf(from);
        long last = shape.pageOf(to - 1);
        if (query.arrivedFromMicros() != Long.MIN_VALUE) {
            long page = firstPage(
                    first,
                    last,
                    p -> reader.pageHeader(p).lastArrivalMicros() >= query.arrivedFromMicros());
            from = Math.max(from, shape.startOf(page));
            if (page <= last) {
                from = timeMark(reader, from, Math.min(to, shape.startOf(page + 1)), query, true);
            }
        }
        if (query.arrivedToMicros() != Long.MAX_VALUE) {
            long page = firstPage(
                    first,
                    last,
                    p -> reader.pageHeader(p).firstArrivalMicros() > query.arrivedToMicros());
            to = Math.min(to, shape.startOf(page));
            if (page > first) {
                long low = Math.max(Math.max(query.from(), log.begin()), shape.startOf(page - 1));
                to = timeMark(reader, low, to, query, false);
            }
        }
        return new Range(from, Math.max(from, to));
    }

    /**
     * Goes through a part of a page for its times.
     *
     * @param from where a record or the page starts
     * @param isStart whether the last mark from before the query's times is wanted, or else the
     *     first one from after them
     * @return its address; if there is none, {@code from} of a start, else {@code to}
     */
    private static long timeMark(
            LogReader reader, long from, long to, LogQuery query, boolean isStart) {
        long begin = reader.log().begin();
        long found = isStart ? from : to;
        try {
            LogScan scan = new LogScan(reader);
            scan.start(Math.max(from, begin), to);
            while (scan.next()) {
                if (TimeMark.is(scan.header())) {
                    long micros = TimeMark.read(scan.segment(), scan.offset());
                    if (isStart && micros < query.arrivedFromMicros()) {
                        found = scan.address();
                    } else if (!isStart
                            && micros - TimeMark.LATE_MICROS_MAX > query.arrivedToMicros()) {
                        return scan.address();
                    }
                }
            }
        } catch (InvalidRequestException gone) {
            if (reader.log().begin() == begin) {
                throw gone; // else truncated under us: the page's own times do
            }
        }
        return found;
    }

    /**
     * The first page for which {@code holds} is true; arrival times ascend. The page after {@code
     * last} if there is none.
     */
    private static long firstPage(long first, long last, java.util.function.LongPredicate holds) {
        long low = first;
        long high = last + 1;
        while (low < high) {
            long middle = (low + high) >>> 1;
            if (holds.test(middle)) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        return low;
    }

    private PsfSet single(PsfDefinition definition) {
        return PsfSet.empty(parser, functions).with(0, definition);
    }

    /** The parts of the range, newest first. */
    List<ScanPart> parts() {
        return parts;
    }

    /** The wanted value in the chains of a PSF. */
    PropertyValue value() {
        if (value == null) {
            throw new IllegalStateException("a query without a property has no chain");
        }
        return value;
    }

    /** Tests for one thread. */
    RangeScan.Tests newTests() {
        RecordTest residual = newResidual();
        PsfDefinition wanted = definition;
        RecordTest scanned = wanted == null
                ? residual
                : new TestOnDemand(
                        () -> new PropertyTest(single(wanted).newReader(), value()).and(residual));
        return new RangeScan.Tests(scanned, residual);
    }

    private RecordTest newResidual() {
        if (expression == null) {
            return ANY;
        }
        RecordPredicate predicate = new RecordPredicate(parser, expression);
        return predicate::test;
    }
}
