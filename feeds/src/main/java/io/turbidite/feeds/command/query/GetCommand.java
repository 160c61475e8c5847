package io.turbidite.feeds.command.query;

import io.turbidite.core.Limits;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.record.RecordView;
import io.turbidite.feeds.command.common.CommonOptions;
import io.turbidite.feeds.command.common.Console;
import io.turbidite.feeds.command.common.ExitCode;
import io.turbidite.feeds.command.common.StoreAccess;
import io.turbidite.feeds.command.common.StoreArgument;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.Store;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.regex.Pattern;

/** Prints one record. */
@Command(
        name = "get",
        customSynopsis = "./turbidite get STORE DATASET KEY [--json] [--debug]",
        description = "Print the record with a primary key as JSON; exit code 1 if there is none.",
        sortOptions = false)
public final class GetCommand implements Callable<Integer> {
    private static final Pattern NEGATIVE = Pattern.compile("-(\\.?\\d.*|Infinity)");

    private final Console console;
    private final StoreAccess stores;

    @Mixin
    private final StoreArgument given = new StoreArgument();

    @Parameters(index = "1", paramLabel = "DATASET", description = "Name of the dataset.")
    private String datasetName = "";

    @Parameters(
            index = "2",
            paramLabel = "KEY",
            description =
                    "The key's value; a JSON array such as '[\"UA\",1545]' if the key has several fields.")
    private String key = "";

    @Mixin
    @SuppressWarnings("UnusedVariable") // the parser knows its options by it
    private final CommonOptions common = new CommonOptions();

    public GetCommand(Console console, StoreAccess stores) {
        this.console = console;
        this.stores = stores;
    }

    /** Arguments of {@code get} as the parser understands them: a negative number is no option. */
    public static String[] separate(String[] args) {
        List<String> before = new ArrayList<>();
        List<String> numbers = new ArrayList<>();
        for (String arg : args) {
            boolean ended = before.contains("--");
            (!ended && NEGATIVE.matcher(arg).matches() ? numbers : before).add(arg);
        }
        if (!numbers.isEmpty()) {
            if (!before.contains("--")) {
                before.add("--");
            }
            before.addAll(numbers);
        }
        return before.toArray(String[]::new);
    }

    @Override
    public Integer call() {
        return stores.use(given, this::print);
    }

    private int print(Store store) {
        Dataset dataset = store.dataset(datasetName);
        List<Object> values = KeyArgument.parse(dataset.type(), dataset.primaryKey(), key);
        ByteSink encoded = new ByteSink(64, 64 * Limits.KEY_BYTES_MAX);
        dataset.primaryKeySpec().appendValues(encoded, values);
        ByteSink record = new ByteSink(1 << 10, Limits.RECORD_BYTES_MAX + 64);
        if (!dataset.getRecord(encoded.asSlice(new Slice()), record)) {
            console.err()
                    .println("turbidite: %s has no record with key %s".formatted(datasetName, key));
            return ExitCode.FAILED;
        }
        RecordView view = new RecordView(dataset.type());
        ByteSink json = new ByteSink(1 << 10, Integer.MAX_VALUE - 8);
        view.wrap(record.asSlice(new Slice())).toJson(json);
        byte[] line = json.putByte('\n').asSlice(new Slice()).toByteArray();
        console.out().write(line, 0, line.length);
        return ExitCode.OK;
    }
}
