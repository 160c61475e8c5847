package io.turbidite.feeds.command.store;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.memory.ByteSize;
import io.turbidite.feeds.DatasetDefinition;
import io.turbidite.feeds.command.common.CommonOptions;
import io.turbidite.feeds.command.common.Console;
import io.turbidite.feeds.command.common.ExitCode;
import io.turbidite.feeds.command.common.Json;
import io.turbidite.feeds.command.common.PathArgument;
import io.turbidite.feeds.log.DirectoryKind;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.lsm.component.ComponentOptions;
import io.turbidite.lsm.component.Compression;
import io.turbidite.lsm.component.PageOptions;
import io.turbidite.lsm.merge.MergePolicySpec;
import io.turbidite.lsm.schema.DatasetOptions;

import org.jspecify.annotations.Nullable;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;

/** Creates a dataset, and the store if it is not there. */
@Command(
        name = "create",
        customSynopsis = """
                ./turbidite dataset create STORE DATASET --field NAME=TYPE... --key FIELD[,FIELD...]
                  [--filter FIELD] [--partitions N] [--maintenance STRATEGY] [--merge-policy KIND]
                  [--page-bytes BYTES] [--compression KIND] [--if-missing] [--json] [--debug]
                ./turbidite dataset create STORE --from FILE.yaml [--if-missing] [--json] [--debug]""",
        description = {
            "Create a dataset without a feed, and the store if it is missing.",
            "Records may have other fields than those that are declared.",
        },
        sortOptions = false,
        footer = {
            "",
            "Example: ./turbidite dataset create my-store People --key id \\",
            "           --field id=int64 --field name=string --field born=date?",
        })
final class DatasetCreateCommand implements Callable<Integer> {
    private final Console console;

    @Parameters(index = "0", paramLabel = "STORE", description = "Directory of the store.")
    private String directory = "";

    @Parameters(
            index = "1",
            arity = "0..1",
            paramLabel = "DATASET",
            description = "Its name; a definition says it by itself.")
    private @Nullable String name;

    @Option(
            names = "--from",
            paramLabel = "FILE.yaml",
            description =
                    "Take the section 'dataset' of this definition, of a feed's perhaps: docs/feed-definition.md.")
    private @Nullable String from;

    @Option(
            names = "--field",
            paramLabel = "NAME=TYPE",
            description =
                    "Declare a field, such as id=int64, name=string? (it may be missing), tags=[string].")
    private List<String> fields = List.of();

    @Option(
            names = "--key",
            split = ",",
            paramLabel = "FIELD",
            description = "The fields of the primary key, in key order.")
    private List<String> key = List.of();

    @Option(
            names = "--filter",
            split = ",",
            paramLabel = "FIELD",
            description = "Each component keeps their least and greatest value: searches skip it.")
    private List<String> filters = List.of();

    @Option(
            names = "--partitions",
            paramLabel = "N",
            description = "From 1, which is the default, to 256.")
    private @Nullable Integer partitions;

    @Option(
            names = "--maintenance",
            paramLabel = "STRATEGY",
            description = "How indexes follow updates; eager, which is the default.")
    private @Nullable String maintenance;

    @Option(
            names = "--merge-policy",
            paramLabel = "KIND",
            description = "Which components become one; tiering, which is the default.")
    private @Nullable String mergePolicy;

    @Option(
            names = "--page-bytes",
            paramLabel = "BYTES",
            description = "Of a page of its components, such as 16KiB, which is the default.")
    private @Nullable String pageBytes;

    @Option(
            names = "--compression",
            paramLabel = "KIND",
            description = "none, which is the default, lz4 or zstd.")
    private @Nullable String compression;

    @Option(
            names = "--if-missing",
            description = "Where there is one of that name, check that it is as it is said here.")
    private boolean ifMissing;

    @Mixin
    private final CommonOptions common = new CommonOptions();

    DatasetCreateCommand(Console console) {
        this.console = console;
    }

    @Override
    public Integer call() {
        // what is wrong is said before there is a store
        DatasetSpec spec = from == null ? ofOptions() : ofFile(from);
        if (spec.name().startsWith("_")) {
            throw new InvalidRequestException(
                    "dataset '%s': names that begin with '_' are the store's own"
                            .formatted(spec.name()));
        }
        Path path = PathArgument.path("STORE", directory);
        DirectoryKind.checkNoLog(path);
        boolean created;
        try (Store store = Store.open(path, StoreOptions.defaults())) {
            created = store.findDataset(spec.name()) == null;
            var _ = ifMissing ? store.openDataset(spec) : store.createDataset(spec);
        }
        if (common.json) {
            Json.line()
                    .put("ok", true)
                    .put("dataset", spec.name())
                    .put("state", created ? "created" : "there")
                    .printTo(console.out());
        } else {
            console.out()
                    .println("dataset %s is %s"
                            .formatted(spec.name(), created ? "created" : "there"));
        }
        return ExitCode.OK;
    }

    private DatasetSpec ofFile(String file) {
        boolean hasOptions = !fields.isEmpty()
                || !key.isEmpty()
                || !filters.isEmpty()
                || partitions != null
                || maintenance != null
                || mergePolicy != null
                || pageBytes != null
                || compression != null;
        if (name != null || hasOptions) {
            throw new InvalidRequestException("--from says all of the dataset: give no %s beside it"
                    .formatted(hasOptions ? "options of one" : "DATASET"));
        }
        return DatasetDefinition.load(
                console.directory().resolve(PathArgument.path("--from", file)));
    }

    private DatasetSpec ofOptions() {
        if (name == null || fields.isEmpty() || key.isEmpty()) {
            throw new InvalidRequestException(
                    "give DATASET, its fields (--field NAME=TYPE) and its primary key (--key), or a definition (--from)");
        }
        DatasetSpec spec = DatasetSpec.named(name)
                .primaryKey(key.toArray(String[]::new))
                .filter(filters.toArray(String[]::new));
        for (String field : fields) {
            int equals = field.indexOf('=');
            if (equals < 1) {
                throw new InvalidRequestException(
                        "--field '%s' must be NAME=TYPE, such as id=int64".formatted(field));
            }
            spec.field(field.substring(0, equals), field.substring(equals + 1).strip());
        }
        if (partitions != null) {
            spec.partitions(partitions);
        }
        if (maintenance != null) {
            DatasetOptions.Builder options = spec.options().toBuilder();
            DatasetOptions.Choice.MAINTENANCE.choose(options, maintenance);
            spec.options(options.build());
        }
        if (mergePolicy != null) {
            spec.mergePolicy(MergePolicySpec.parse(mergePolicy, Map.of()));
        }
        return spec.components(ComponentOptions.primary().withPages(pages())).check();
    }

    private PageOptions pages() {
        PageOptions pages = PageOptions.standard();
        if (pageBytes != null) {
            long bytes = ByteSize.parse("--page-bytes", pageBytes);
            pages = pages.withPageBytes((int) Math.min(bytes, Integer.MAX_VALUE));
        }
        return compression == null
                ? pages
                : pages.withCompression(Compression.ofLabel(compression));
    }
}
