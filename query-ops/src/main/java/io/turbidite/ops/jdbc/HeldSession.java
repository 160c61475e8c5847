package io.turbidite.ops.jdbc;

import io.turbidite.core.ClosedException;
import io.turbidite.core.StoreFailedException;

import org.jspecify.annotations.Nullable;

import java.io.DataInputStream;
import java.io.IOException;
import java.nio.file.Path;
import java.sql.SQLException;
import java.sql.SQLNonTransientConnectionException;
import java.sql.SQLSyntaxErrorException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/**
 * What a connection asks of a store that another process holds. One request at a time; cancelling
 * and closing do not wait for it. <em>Thread-safe.</em>
 */
final class HeldSession implements Session {
    /** For a run of another thread to end, before it is not waited for. */
    private static final long CLOSE_SECONDS = 10;

    private final Path directory;
    private final HolderChannel channel;
    private final DataInputStream in;
    private final ReentrantLock asking = new ReentrantLock();

    /** Guarded by {@link #asking}. */
    private final WireOutput request = new WireOutput(Wire.LENGTH_BYTES + Wire.REQUEST_BYTES_MAX);

    /** Runs that have begun and not ended, guarded by itself. */
    private final Map<Integer, Execution> running = new HashMap<>();

    private final boolean isReadOnly;
    private int lastRun;
    private volatile int schema;
    private volatile boolean hasTransaction;
    private volatile boolean closed;

    /** Why nothing more can be asked; null: it can. */
    private volatile @Nullable IOException lost;

    private HeldSession(StoreAddress address, HolderChannel channel) throws SQLException {
        this.directory = address.directory();
        this.channel = channel;
        this.in = new DataInputStream(channel.in());
        request.begin(Wire.HELLO)
                .putLong(Wire.MAGIC)
                .putShort(Wire.VERSION)
                .putTruth(address.readOnly())
                .putLong(address.planningMillis());
        try {
            WireInput answer = exchanged();
            if (answer.getShort() != Wire.VERSION) {
                throw new IOException("it answers by another version of the messages");
            }
            this.isReadOnly = answer.getTruth();
        } catch (IOException e) {
            throw new SQLNonTransientConnectionException(
                    "the process that holds the store in %s can't be asked: %s"
                            .formatted(directory, reason(e)),
                    Errors.NOT_OPENED,
                    e);
        }
    }

    /** Greets the holder; the channel is closed if that fails. */
    static HeldSession greet(StoreAddress address, HolderChannel channel) throws SQLException {
        HeldSession made = null;
        try {
            made = new HeldSession(address, channel);
            return made;
        } finally {
            if (made == null) {
                channel.close();
            }
        }
    }

    private static String reason(IOException e) {
        return e.getMessage() == null ? "it ended the connection" : e.getMessage();
    }

    private SQLException lost(IOException why) {
        return new SQLNonTransientConnectionException(
                "the process that holds the store in %s has ended the connection: %s; connect again"
                        .formatted(directory, reason(why)),
                Errors.CONNECTION_LOST,
                why);
    }

    private void send(WireOutput message) throws IOException {
        synchronized (channel) {
            channel.out().write(message.message(), 0, message.size());
            channel.out().flush();
        }
    }

    /** The answer behind its head. */
    private WireInput answer() throws IOException, SQLException {
        int length = in.readInt();
        if (length < 1 || length > Wire.ANSWER_BYTES_MAX) {
            throw new WireInput.MalformedException("an answer of %d bytes".formatted(length));
        }
        byte[] body = in.readNBytes(length);
        if (body.length < length) {
            throw new WireInput.MalformedException("it ends early");
        }
        WireInput answer = new WireInput(body);
        int kind = answer.getByte();
        schema = answer.getInt();
        switch (kind) {
            case Wire.OK -> {}
            case Wire.ERROR -> throw answer.getError();
            default -> throw new WireInput.MalformedException("an answer of kind " + kind);
        }
        return answer;
    }

    /** What a request says behind its kind. */
    private interface Said {
        void to(WireOutput message, int run) throws SQLException;
    }

    /** What becomes of an answer. */
    private interface Heard<T> {
        T from(WireInput answer, int run) throws IOException, SQLException;
    }

    /**
     * Asks and waits for the answer.
     *
     * @param run what may end it meanwhile; null: nothing does
     */
    private <T> T ask(int kind, @Nullable Execution run, Said said, Heard<T> heard)
            throws SQLException {
        asking.lock();
        try {
            checkCanAsk();
            int number = run == null ? 0 : ++lastRun;
            try {
                said.to(request.begin(kind), number);
            } catch (WireOutput.TooLongException e) {
                throw Errors.of(String.valueOf(e.getMessage()), Errors.TOO_LONG);
            }
            if (run != null) {
                begin(number, run);
            }
            return exchanged(number, heard);
        } finally {
            asking.unlock();
        }
    }

    private <T> T exchanged(int number, Heard<T> heard) throws SQLException {
        try {
            return heard.from(exchanged(), number);
        } catch (IOException e) {
            lost = e;
            channel.close();
            throw lost(e);
        }
    }

    /** Sends the request; its answer. */
    private WireInput exchanged() throws IOException, SQLException {
        IOException unsent = null;
        try {
            send(request);
        } catch (IOException e) {
            unsent = e; // the reason may lie there to be read
        }
        try {
            return answer();
        } catch (IOException e) {
            if (unsent != null) {
                e.addSuppressed(unsent);
            }
            throw e;
        }
    }

    private void checkCanAsk() throws SQLException {
        IOException why = lost;
        if (why != null) {
            throw lost(why);
        }
        if (closed) {
            throw Errors.closed("connection");
        }
    }

    private void begin(int number, Execution run) throws SQLException {
        run.check();
        synchronized (running) {
            running.put(number, run);
        }
        run.listen(() -> cancel(number));
    }

    private void end(int number) {
        synchronized (running) {
            running.remove(number);
        }
    }

    private void cancel(int number) {
        synchronized (running) {
            if (!running.containsKey(number)) {
                return;
            }
        }
        try {
            channel.cancel(number);
        } catch (IOException e) {
            // whoever waits for the answer learns it
            lost = e;
        }
    }

    @Override
    public boolean isReadOnly() {
        return isReadOnly;
    }

    @Override
    public HeldPlan plan(String sql, Execution run) throws SQLException {
        return ask(
                Wire.PLAN,
                run,
                (message, number) ->
                        message.putInt(number).putInt(run.seconds()).putText(sql),
                (answer, number) -> {
                    boolean givesRows = answer.getTruth();
                    List<String> parameters = answer.getTexts();
                    return new HeldPlan(sql, givesRows, parameters, answer.getColumns(), schema);
                });
    }

    @Override
    public Described described(Asked asked) throws SQLException {
        return ask(
                Wire.DESCRIBE,
                null,
                (message, _) -> message.putText(asked.subject().name())
                        .putText(asked.dataset())
                        .putText(asked.column())
                        .putTruth(asked.unique()),
                (answer, _) -> {
                    Columns columns = answer.getColumns();
                    int width = columns.fields().size();
                    int count = answer.getCount(width);
                    List<@Nullable Object[]> rows = new ArrayList<>(count);
                    for (int i = 0; i < count; i++) {
                        @Nullable Object[] row = new @Nullable Object[width];
                        for (int j = 0; j < width; j++) {
                            row[j] = answer.getValue();
                        }
                        rows.add(row);
                    }
                    return new Described(columns, rows);
                });
    }

    @Override
    public void endTransaction() throws SQLException {
        if (hasTransaction && !closed) {
            hasTransaction = false;
            ask(Wire.END, null, (_, _) -> {}, (_, _) -> true);
        }
    }

    @Override
    public boolean isAlive() {
        try {
            return ask(Wire.PING, null, (_, _) -> {}, (_, _) -> true);
        } catch (SQLException gone) {
            return false;
        }
    }

    @Override
    public void close() {
        if (closed) {
            return;
        }
        cancelAll();
        boolean isFree = false;
        try {
            isFree = asking.tryLock(CLOSE_SECONDS, TimeUnit.SECONDS);
            if (isFree && lost == null && !closed) {
                send(request.begin(Wire.BYE));
                answer();
                var _ = in.read(); // it ends once all that was open there is closed
            }
        } catch (IOException | SQLException gone) {
            // the holder closes all by itself
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            closed = true;
            channel.close();
            if (isFree) {
                asking.unlock();
            }
        }
    }

    private void cancelAll() {
        List<Integer> numbers;
        synchronized (running) {
            numbers = List.copyOf(running.keySet());
        }
        numbers.forEach(this::cancel);
    }

    @Override
    public void abort() {
        channel.close();
    }

    /** Has the holder close a result; nobody waits for it. */
    private void closeResult(int number, boolean isWhole) {
        if (!isWhole) {
            cancel(number); // it may be working on it
        }
        end(number);
        if (closed || lost != null) {
            return;
        }
        WireOutput message = new WireOutput(Wire.HELLO_BYTES).begin(Wire.CLOSE).putInt(number);
        try {
            send(message);
        } catch (IOException e) {
            lost = e;
        }
    }

    /** A statement that the holder has planned. */
    final class HeldPlan implements Plan {
        private final String text;
        private final boolean givesRows;
        private final List<String> parameters;
        private final Columns columns;
        private final int plannedFor;

        private HeldPlan(
                String text,
                boolean givesRows,
                List<String> parameters,
                Columns columns,
                int plannedFor) {
            this.text = text;
            this.givesRows = givesRows;
            this.parameters = parameters;
            this.columns = columns;
            this.plannedFor = plannedFor;
        }

        @Override
        public boolean givesRows() {
            return givesRows;
        }

        @Override
        public List<String> parameters() {
            return parameters;
        }

        @Override
        public Columns columns() {
            return columns;
        }

        @Override
        public boolean isCurrent(boolean asks) throws SQLException {
            if (asks) {
                ask(Wire.PING, null, (_, _) -> {}, (_, _) -> true);
            }
            return schema == plannedFor;
        }

        private void putValues(WireOutput message, @Nullable Object... values) throws SQLException {
            message.putInt(values.length);
            for (int i = 0; i < values.length; i++) {
                Object value = values[i];
                boolean isOne = !(value instanceof List<?>) && !(value instanceof Map<?, ?>);
                if (!isOne || !message.putValue(value)) {
                    throw new SQLSyntaxErrorException(
                            "parameter %d is a %s: a %s is no value of that type"
                                    .formatted(i + 1, parameters.get(i), name(value)),
                            "42000");
                }
            }
        }

        @Override
        public Answer rows(Execution run, boolean inTransaction, @Nullable Object... values)
                throws SQLException {
            hasTransaction |= inTransaction;
            return ask(
                    Wire.RUN,
                    run,
                    (message, number) -> {
                        message.putInt(number)
                                .putInt(run.seconds())
                                .putTruth(inTransaction)
                                .putText(text);
                        putValues(message, values);
                    },
                    (answer, number) -> {
                        Columns now = answer.getColumns();
                        return new Answer(
                                now, new HeldCursor(number, now.fields().size()));
                    });
        }

        @Override
        public long change(Execution run, @Nullable Object... values) throws SQLException {
            return ask(
                    Wire.CHANGE,
                    run,
                    (message, number) -> {
                        message.putInt(number).putInt(run.seconds()).putText(text);
                        putValues(message, values);
                    },
                    (answer, number) -> answer.getLong());
        }
    }

    private static String name(@Nullable Object value) {
        return value == null ? "null" : value.getClass().getSimpleName();
    }

    /** The rows of a run, fetched as they are read. */
    private final class HeldCursor implements RowCursor {
        private static final int FIRST_ROWS = 64;
        private static final int ROWS_MAX = 4_096;

        private final int run;
        private final int[] places;
        private int fetchSize;
        private int rows = FIRST_ROWS;

        /** Of the rows that were fetched last; null: none are there any more. */
        private @Nullable WireInput fetched;

        private int left;
        private int after = Wire.MORE;
        private @Nullable SQLException failure;
        private volatile boolean closed;

        HeldCursor(int run, int width) {
            this.run = run;
            this.places = new int[width + 1];
        }

        @Override
        public void fetchSize(int newRows) {
            fetchSize = newRows;
        }

        @Override
        public boolean next() throws SQLException {
            while (left == 0) {
                if (failure != null) {
                    throw closed ? Errors.closed("result") : failure;
                }
                if (after == Wire.NO_MORE) {
                    fetched = null;
                    return false;
                }
                fetch();
            }
            left--;
            place();
            return true;
        }

        private void fetch() throws SQLException {
            int most = fetchSize > 0 ? fetchSize : rows;
            rows = Math.min(ROWS_MAX, 4 * rows);
            try {
                fetched = ask(
                        Wire.FETCH,
                        null,
                        (message, _) -> message.putInt(run).putInt(most),
                        (answer, _) -> answer);
                left = fetched.getInt();
                places[places.length - 1] = fetched.position();
                if (left == 0) {
                    readAfter(fetched);
                }
            } catch (IOException e) {
                throw lost(e);
            } catch (SQLException e) {
                throw closed ? Errors.closed("result") : e;
            }
        }

        /** What follows the last row. */
        private void readAfter(WireInput from) throws IOException {
            after = from.getByte();
            if (after == Wire.FAILED) {
                failure = from.getError();
            }
        }

        /** Finds the values of the next row, and what follows the last one. */
        private void place() throws SQLException {
            WireInput from = here();
            try {
                from.position(places[places.length - 1]);
                for (int i = 0; i < places.length - 1; i++) {
                    places[i] = from.position();
                    from.skipValue();
                }
                places[places.length - 1] = from.position();
                if (left == 0) {
                    readAfter(from);
                }
            } catch (IOException e) {
                throw lost(e);
            }
        }

        private WireInput here() throws SQLException {
            WireInput from = fetched;
            if (from == null) {
                throw Errors.closed("result");
            }
            return from;
        }

        @Override
        public @Nullable Object get(int column) {
            try {
                return at(column).getValue();
            } catch (IOException e) {
                throw new StoreFailedException(String.valueOf(e.getMessage()), e);
            }
        }

        @Override
        public boolean isWhole(int column) {
            try {
                return at(column).isWhole();
            } catch (IOException e) {
                throw new StoreFailedException(String.valueOf(e.getMessage()), e);
            }
        }

        @Override
        public long getLong(int column) {
            try {
                return at(column).getWhole();
            } catch (IOException e) {
                throw new StoreFailedException(String.valueOf(e.getMessage()), e);
            }
        }

        private WireInput at(int column) {
            WireInput row = fetched;
            if (row == null) {
                throw new ClosedException("the result");
            }
            row.position(places[column]);
            return row;
        }

        @Override
        public void close() {
            if (!closed) {
                closed = true;
                closeResult(run, after != Wire.MORE);
            }
        }
    }
}
