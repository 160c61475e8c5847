package io.turbidite.lsm.version;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.index.FieldKeys;
import io.turbidite.core.index.TokenKeys;
import io.turbidite.core.key.KeyForm;
import io.turbidite.core.key.KeySpec;
import io.turbidite.core.scan.IndexDescription;
import io.turbidite.core.type.RecordType;
import io.turbidite.lsm.component.ComponentOptions;
import io.turbidite.lsm.component.PageOptions;
import io.turbidite.lsm.merge.MergePolicySpec;
import io.turbidite.lsm.schema.BitmapHandover;
import io.turbidite.lsm.schema.DatasetOptions;
import io.turbidite.lsm.schema.DatasetSchema;
import io.turbidite.lsm.schema.IndexCatalog;
import io.turbidite.lsm.schema.IndexSchema;
import io.turbidite.lsm.schema.Maintenance;
import io.turbidite.lsm.schema.MergeRepair;
import io.turbidite.lsm.schema.Retention;
import io.turbidite.lsm.schema.TreeId;
import io.turbidite.lsm.version.ManifestState.BitmapState;
import io.turbidite.lsm.version.ManifestState.ComponentState;
import io.turbidite.lsm.version.ManifestState.DatasetState;
import io.turbidite.lsm.version.ManifestState.PartitionState;
import io.turbidite.lsm.version.ManifestState.RegionState;
import io.turbidite.lsm.version.ManifestState.TreeState;

import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;

/**
 * The archived manifests are read as they were written, and the newest is still what is written.
 * {@code -Dgolden.print=true} prints what a new archive has to hold.
 */
class ManifestFormatTest {
    private static final RecordType TYPE = RecordType.builder()
            .field("id", "int64")
            .field("user", "string?")
            .field("at", "datetime")
            .build();

    /**
     * The schema.
     *
     * @param form of the keys of all but one index, which is older than the rest
     * @param more indexes that older versions did not know
     */
    private static DatasetSchema schema(KeyForm form, List<IndexSchema> more) {
        return new DatasetSchema(
                3,
                2,
                "Visits",
                TYPE,
                KeySpec.of(TYPE, List.of("id"), "primary key", form),
                List.of(KeySpec.of(TYPE, List.of("at"), "filter", form)),
                IndexCatalog.of(
                        "Visits",
                        withMore(
                                more,
                                new IndexSchema(
                                        1,
                                        "by_user",
                                        IndexDescription.Kind.BTREE,
                                        FieldKeys.of(TYPE, List.of("user"), "index by_user", form),
                                        Maintenance.VALIDATION,
                                        false,
                                        PageOptions.standard().withPageBytes(8_192),
                                        IndexSchema.State.READY),
                                new IndexSchema(
                                        2,
                                        "by_at",
                                        IndexDescription.Kind.BTREE,
                                        FieldKeys.of(
                                                TYPE,
                                                List.of("at"),
                                                "index by_at",
                                                KeyForm.SIGNED_ZEROS),
                                        Maintenance.EAGER,
                                        false,
                                        null,
                                        IndexSchema.State.DISABLED)),
                        4),
                1,
                new DatasetOptions(
                        Maintenance.VALIDATION,
                        MergePolicySpec.parse("correlated-no-merge"),
                        ComponentOptions.primary(),
                        Retention.parse("30d"),
                        MergeRepair.MERGE,
                        BitmapHandover.SIDE_FILE));
    }

    private static List<IndexSchema> withMore(List<IndexSchema> more, IndexSchema... old) {
        return Stream.concat(Arrays.stream(old), more.stream()).toList();
    }

    /** What version 10 can say. */
    private static ManifestState state10() {
        return state("", false, KeyForm.SIGNED_ZEROS, false, List.of());
    }

    private static ManifestState state(
            String quarantine,
            boolean untold,
            KeyForm form,
            boolean hasLog,
            List<IndexSchema> more,
            RegionState... regions) {
        ComponentState newer =
                ComponentState.fresh(8, 200, 300, 4_096, 0).withQuarantine(quarantine);
        ComponentState fresh = ComponentState.fresh(5, 1, 199, 65_536, 2);
        ComponentState older =
                untold ? fresh.withUntold("the log supersedes records of it") : fresh;
        ComponentState checked = ComponentState.fresh(9, 1, 300, 2_048, 1)
                .withRepaired(250, new BitmapState(7, 256, 12));
        PartitionState partition = new PartitionState(
                300,
                List.of(
                        new TreeState(TreeId.PRIMARY, List.of(newer, older)),
                        new TreeState(TreeId.of(1), List.of(checked))),
                List.of(regions));
        DatasetCounts counts = new DatasetCounts(
                new DatasetCounts.Flushes(1, 2, 3, 4),
                new DatasetCounts.Lookups(5, 6),
                new DatasetCounts.Reads(7, 8, 9),
                Map.of(1, new DatasetCounts.IndexReads(10, 11)),
                Map.of());
        return new ManifestState(
                0x1122_3344_5566_7788L,
                10,
                4,
                0,
                new ManifestState.Progress(310, 12_345, hasLog, ManifestState.NONE_OWN),
                List.of(new DatasetState(schema(form, more), List.of(partition), counts)));
    }

    /** What version 11 can say besides. */
    private static ManifestState state11() {
        return state("page 3 is damaged", false, KeyForm.ONE_ZERO, false, List.of());
    }

    /** What version 12 can say besides. */
    private static ManifestState state12() {
        return state("page 3 is damaged", true, KeyForm.ONE_ZERO, true, List.of());
    }

    /** What version 13 can say besides. */
    private static ManifestState state13() {
        IndexSchema words = new IndexSchema(
                3,
                "by_word",
                IndexDescription.Kind.INVERTED,
                TokenKeys.of(
                        TYPE,
                        List.of("user"),
                        "index by_word",
                        Map.of("tokenizer", "word", "tables", "0123456789abcdef")),
                Maintenance.DELETED_KEY,
                false,
                null,
                IndexSchema.State.DISABLED);
        return state("page 3 is damaged", true, KeyForm.ONE_ZERO, true, List.of(words));
    }

    /** What version 14 can say besides. */
    private static ManifestState state14() {
        IndexSchema region = new IndexSchema(
                3,
                "by_region",
                IndexDescription.Kind.PM,
                IndexDescription.entryKeys(
                        IndexDescription.Kind.PM,
                        TYPE,
                        List.of("user"),
                        "index by_region",
                        KeyForm.CURRENT,
                        Map.of("mode", "file", "bytes", "1073741824")),
                Maintenance.VALIDATION,
                false,
                null,
                IndexSchema.State.READY);
        return state(
                "page 3 is damaged",
                true,
                KeyForm.ONE_ZERO,
                true,
                List.of(region),
                new RegionState(TreeId.of(3), 9, 300));
    }

    /** What version 15 can say besides. */
    private static ManifestState state15() {
        return state14().withSession(0x7766_5544_3322_1100L);
    }

    /** What version 16 can say besides. */
    private static ManifestState state16() {
        return state15().withOwnFrom(123);
    }

    @Test
    void what_is_written_is_the_archived_manifest() throws IOException {
        check("/golden/manifest-v16.hex", state16());
    }

    @Test
    void what_is_known_of_own_timestamps_stays() {
        ManifestState state = state16();
        assertThat(state.ownFrom()).isEqualTo(123);
        assertThat(state.withOwnFrom(400)).isEqualTo(state);
        assertThat(state.withProgress(500, 20_000).withLog().withoutLog(600).ownFrom())
                .isEqualTo(123);
    }

    @Test
    void archived_manifests_are_read_as_they_were_written() throws IOException {
        assertThat(ManifestFile.decode(
                        "MANIFEST", HexFormat.of().parseHex(golden("/golden/manifest-v16.hex"))))
                .isEqualTo(state16());
        assertThat(ManifestFile.decode(
                        "MANIFEST", HexFormat.of().parseHex(golden("/golden/manifest-v15.hex"))))
                .isEqualTo(state15());
        assertThat(ManifestFile.decode(
                        "MANIFEST", HexFormat.of().parseHex(golden("/golden/manifest-v14.hex"))))
                .isEqualTo(state14());
        assertThat(ManifestFile.decode(
                        "MANIFEST", HexFormat.of().parseHex(golden("/golden/manifest-v13.hex"))))
                .isEqualTo(state13());
        assertThat(ManifestFile.decode(
                        "MANIFEST", HexFormat.of().parseHex(golden("/golden/manifest-v12.hex"))))
                .isEqualTo(state12());
        assertThat(ManifestFile.decode(
                        "MANIFEST", HexFormat.of().parseHex(golden("/golden/manifest-v11.hex"))))
                .isEqualTo(state11());
        assertThat(ManifestFile.decode(
                        "MANIFEST", HexFormat.of().parseHex(golden("/golden/manifest-v10.hex"))))
                .isEqualTo(state10());
    }

    /** Version 11 told by words which component is untold, and knew of no log. */
    @Test
    void a_cause_of_version_11_tells_what_is_untold() throws IOException {
        ManifestState read = ManifestFile.decode(
                "MANIFEST", HexFormat.of().parseHex(golden("/golden/manifest-v11-untold.hex")));
        assertThat(read.partition(3, 0).tree(TreeId.PRIMARY))
                .extracting(ComponentState::isUntold)
                .containsExactly(true, false);
        assertThat(read.hasLog()).isFalse();
    }

    private static void check(String golden, ManifestState state) throws IOException {
        String written = HexFormat.of().formatHex(ManifestFile.encode(state));
        if (Boolean.getBoolean("golden.print")) {
            System.out.println(golden + "\n" + written);
        } else {
            assertThat(written).isEqualTo(golden(golden));
        }
    }

    private static String golden(String name) throws IOException {
        try (InputStream in =
                Objects.requireNonNull(ManifestFormatTest.class.getResourceAsStream(name))) {
            return new String(in.readAllBytes(), StandardCharsets.US_ASCII).strip();
        }
    }

    @Test
    void every_flipped_bit_and_every_cut_is_found() {
        byte[] whole = ManifestFile.encode(state16());
        for (int at = 0; at < whole.length; at++) {
            byte[] damaged = whole.clone();
            damaged[at] ^= (byte) (1 << at % 8);
            assertThatThrownBy(() -> ManifestFile.decode("MANIFEST", damaged))
                    .isInstanceOf(CorruptionException.class);
            byte[] cut = Arrays.copyOf(whole, at);
            assertThatThrownBy(() -> ManifestFile.decode("MANIFEST", cut))
                    .isInstanceOf(CorruptionException.class);
        }
    }
}
