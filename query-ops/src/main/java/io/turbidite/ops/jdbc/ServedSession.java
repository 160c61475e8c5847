package io.turbidite.ops.jdbc;

import io.turbidite.core.Cleanup;
import io.turbidite.core.scan.Source;
import io.turbidite.core.type.TypeKind;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CancellationException;

/**
 * Does for a connection of another process what {@link OwnSession} does for one of this.
 * <em>Confined to one thread.</em>
 */
final class ServedSession {
    /** Results that are open at a time. */
    private static final int RESULT_COUNT_MAX = 256;

    private static final int PLAN_COUNT_MAX = 64;

    /** Longer texts are planned each time. */
    private static final int PLAN_CHARS_MAX = 16 << 10;

    private final OwnSession own;
    private final boolean isForReading;
    private final Beginning beginning;
    private final Ending ending;
    private final Map<Integer, Result> results = new HashMap<>();

    /** Those of the texts that were run last. */
    private final Map<String, OwnSession.OwnPlan> plans = new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, OwnSession.OwnPlan> eldest) {
            return size() > PLAN_COUNT_MAX;
        }
    };

    private List<? extends Source> datasets;
    private int schema;

    /** Makes what may end a run. */
    interface Beginning {
        Execution begin(int run, int seconds);
    }

    /** Told of runs that are over. */
    interface Ending {
        void end(int run);
    }

    private record Result(Execution run, boolean inTransaction, Session.Answer answer) {}

    ServedSession(OwnSession own, boolean isForReading, Beginning beginning, Ending ending) {
        this.own = own;
        this.isForReading = isForReading;
        this.beginning = beginning;
        this.ending = ending;
        this.datasets = own.datasets();
    }

    /** The number of the datasets there are. */
    int schema() {
        List<? extends Source> now = own.datasets();
        if (!now.equals(datasets)) {
            datasets = now;
            schema++;
        }
        return schema;
    }

    /**
     * Does what is asked and writes the answer; nothing, if there is none.
     *
     * @return whether it was the last request
     */
    boolean answer(WireInput request, WireOutput out) throws IOException {
        int kind = request.getByte();
        if (kind == Wire.CLOSE) {
            int run = request.getInt();
            request.checkEnd();
            close(run);
            out.cut(0);
            return false;
        }
        try {
            answer(kind, request, out);
        } catch (SQLException e) {
            tell(e, out);
        } catch (RuntimeException e) {
            tell(Errors.of(e), out);
        }
        return kind == Wire.BYE;
    }

    private void tell(SQLException e, WireOutput out) {
        out.begin(Wire.ERROR).putInt(schema()).putError(e);
    }

    private void answer(int kind, WireInput request, WireOutput out)
            throws IOException, SQLException {
        switch (kind) {
            case Wire.PLAN -> plan(request, out);
            case Wire.RUN -> run(request, out);
            case Wire.FETCH -> fetch(request, out);
            case Wire.CHANGE -> change(request, out);
            case Wire.DESCRIBE -> describe(request, out);
            case Wire.END -> {
                request.checkEnd();
                endTransaction();
                ok(out);
            }
            case Wire.PING, Wire.BYE -> {
                request.checkEnd();
                ok(out);
            }
            default -> throw new WireInput.MalformedException("a request of kind " + kind);
        }
    }

    private WireOutput ok(WireOutput out) {
        return out.begin(Wire.OK).putInt(schema());
    }

    private OwnSession.OwnPlan planned(String text, Execution run) throws SQLException {
        OwnSession.OwnPlan known = plans.get(text);
        if (known != null && known.isCurrent(true)) {
            return known;
        }
        OwnSession.OwnPlan made = own.plan(text, run);
        if (text.length() <= PLAN_CHARS_MAX) {
            plans.put(text, made);
        }
        return made;
    }

    private void plan(WireInput request, WireOutput out) throws IOException, SQLException {
        int run = request.getInt();
        int seconds = request.getInt();
        String text = request.getText();
        request.checkEnd();
        try {
            OwnSession.OwnPlan plan = planned(text, beginning.begin(run, seconds));
            ok(out).putTruth(plan.givesRows())
                    .putTexts(plan.parameters())
                    .putColumns(plan.columns());
        } finally {
            ending.end(run);
        }
    }

    private void run(WireInput request, WireOutput out) throws IOException, SQLException {
        int run = request.getInt();
        int seconds = request.getInt();
        boolean inTransaction = request.getTruth();
        String text = request.getText();
        @Nullable Object[] values = request.getValues();
        request.checkEnd();
        if (results.size() >= RESULT_COUNT_MAX || results.containsKey(run)) {
            throw Errors.of(
                    "the connection has %d open results, and may have %d"
                            .formatted(results.size(), RESULT_COUNT_MAX),
                    Errors.RESOURCES);
        }
        Execution execution = beginning.begin(run, seconds);
        boolean isStarted = false;
        try {
            OwnSession.OwnPlan plan = planned(text, execution);
            Session.Answer answer = plan.rows(execution, inTransaction, values);
            results.put(run, new Result(execution, inTransaction, answer));
            isStarted = true;
            ok(out).putColumns(answer.columns());
        } finally {
            if (!isStarted) {
                ending.end(run);
            }
        }
    }

    private void change(WireInput request, WireOutput out) throws IOException, SQLException {
        int run = request.getInt();
        int seconds = request.getInt();
        String text = request.getText();
        @Nullable Object[] values = request.getValues();
        request.checkEnd();
        if (isForReading || own.isReadOnly()) {
            throw Errors.of("the connection is read-only", Errors.READ_ONLY);
        }
        Execution execution = beginning.begin(run, seconds);
        try {
            long changed = planned(text, execution).change(execution, values);
            ok(out).putLong(changed);
        } finally {
            ending.end(run);
        }
    }

    private void fetch(WireInput request, WireOutput out) throws IOException, SQLException {
        int run = request.getInt();
        int rowsMax = request.getInt();
        request.checkEnd();
        Result result = results.get(run);
        if (result == null || rowsMax < 1) {
            throw Errors.closed("result");
        }
        RowCursor cursor = result.answer.cursor();
        TypeKind[] kinds = result.answer.columns().fields().stream()
                .map(field -> field.kind())
                .toArray(TypeKind[]::new);
        int countAt = ok(out).size();
        out.putInt(0);
        int count = 0;
        int whole = out.size();
        try {
            int after = Wire.MORE;
            while (count < rowsMax && whole < Wire.ROWS_BYTES) {
                result.run.check();
                if (!cursor.next()) {
                    after = Wire.NO_MORE;
                    break;
                }
                putRow(cursor, kinds, out);
                whole = out.size();
                count++;
            }
            out.putByte(after);
        } catch (SQLException | RuntimeException e) {
            // the rows before it are as good as they would be without it
            out.cut(whole);
            out.putByte(Wire.FAILED).putError(error(result.run, e));
        }
        out.putIntAt(countAt, count);
    }

    private static SQLException error(Execution run, Exception e) {
        return switch (e) {
            case SQLException told -> told;
            case CancellationException ended -> {
                SQLException told = run.ended();
                told.initCause(ended);
                yield told;
            }
            case RuntimeException other -> Errors.of(other);
            default -> throw new IllegalArgumentException(e);
        };
    }

    private static void putRow(RowCursor cursor, TypeKind[] kinds, WireOutput out) {
        for (int i = 0; i < kinds.length; i++) {
            if (cursor.isWhole(i)) {
                out.putWhole(kinds[i], cursor.getLong(i));
            } else {
                put(cursor.get(i), out);
            }
        }
    }

    private static void put(@Nullable Object value, WireOutput out) {
        if (!out.putValue(value)) {
            throw new IllegalStateException("a value that can't be sent: " + value);
        }
    }

    private void describe(WireInput request, WireOutput out) throws IOException, SQLException {
        Session.Subject subject = request.getConstant(Session.Subject.class);
        String dataset = request.getTextOrNull();
        String column = request.getTextOrNull();
        boolean unique = request.getTruth();
        request.checkEnd();
        Session.Described described =
                own.described(new Session.Asked(subject, dataset, column, unique));
        ok(out).putColumns(described.columns()).putInt(described.rows().size());
        for (@Nullable Object[] row : described.rows()) {
            for (Object value : row) {
                put(value, out);
            }
        }
    }

    /** What reads its moment ends before it. */
    private void endTransaction() {
        List<Integer> runs = results.entrySet().stream()
                .filter(result -> result.getValue().inTransaction())
                .map(Map.Entry::getKey)
                .toList();
        new Cleanup().addAll(runs, this::close).add(own::endTransaction).run();
    }

    private void close(int run) {
        Result result = results.remove(run);
        ending.end(run);
        if (result != null) {
            result.answer.cursor().close();
        }
    }

    /** Closes what is open, and lets go of the store. */
    void close() {
        new Cleanup()
                .addAll(results.values(), result -> result.answer().cursor().close())
                .add(own::close)
                .run();
    }
}
