package io.turbidite.it.attack;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.StorageException;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.sim.Tier;
import io.turbidite.lsm.Store;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Every file of a store is attacked in every way, before it is opened and while it is open. What
 * the store answers then is right or a {@link StorageException}; and when the file is put back,
 * everything is there again.
 */
class StoreFilesTest {
    private static final long SEED = Seeds.of("StoreFilesTest");
    private static final int ROUNDS = Tier.count(1, 3, 200);

    private final StoreModel model = new StoreModel(SEED, "a");
    private final StoreModel other = new StoreModel(SEED + 1, "b");
    private final SplittableRandom random = new SplittableRandom(SEED);
    private final List<String> wrong = new ArrayList<>();
    private int refusedCount;
    private int toldCount;

    @ParameterizedTest
    @CsvSource({"true", "false"})
    void a_file_that_was_attacked_before_opening_is_told_or_not_needed(boolean afterKill) {
        for (int round = 0; round < ROUNDS; round++) {
            for (String name : model.image(afterKill).files()) {
                for (FileAttack attack : FileAttack.values()) {
                    String as = "%s %s, %s, round %d; %s"
                            .formatted(
                                    name,
                                    attack,
                                    afterKill ? "killed" : "closed",
                                    round,
                                    Seeds.replay("StoreFilesTest", SEED));
                    collect(as, () -> before(name, attack, afterKill, as));
                }
            }
        }
        report("before");
    }

    @ParameterizedTest
    @CsvSource({"true", "false"})
    void a_file_that_is_attacked_while_the_store_is_open_is_told_or_not_needed(boolean afterKill) {
        for (int round = 0; round < ROUNDS; round++) {
            for (String name : model.image(afterKill).files()) {
                for (FileAttack attack : FileAttack.values()) {
                    String as = "%s %s while open, %s, round %d; %s"
                            .formatted(
                                    name,
                                    attack,
                                    afterKill ? "killed" : "closed",
                                    round,
                                    Seeds.replay("StoreFilesTest", SEED));
                    collect(as, () -> open(name, attack, afterKill, as));
                }
            }
        }
        report("while open");
    }

    /** All of them are looked at, so that one run shows every hole. */
    private void collect(String as, Runnable attack) {
        try {
            attack.run();
        } catch (StorageException e) {
            wrong.add("%s: after it was put back, %s".formatted(as, e));
        } catch (RuntimeException | Error e) {
            wrong.add("%s: %s".formatted(as, e));
        }
    }

    private void report(String when) {
        System.out.printf(
                "StoreFilesTest %s: %d refused to open, %d answers were refusals%n",
                when, refusedCount, toldCount);
        assertThat(wrong).isEmpty();
        assertThat(refusedCount + toldCount).isPositive();
    }

    private byte[] foreign(String name, boolean afterKill) {
        SimDisk disk = other.image(afterKill);
        List<String> names = disk.files();
        if (names.contains(name)) {
            return disk.content(name);
        }
        String kind = name.substring(Math.max(name.indexOf('/'), name.lastIndexOf('.')) + 1);
        return disk.content(names.stream()
                .filter(candidate -> candidate.endsWith(kind))
                .findFirst()
                .orElse("MANIFEST"));
    }

    private boolean isUseless(SimDisk disk, String name, FileAttack attack) {
        return (disk.content(name).length == 0 && attack != FileAttack.MISSING)
                || name.equals("LOCK");
    }

    private void before(String name, FileAttack attack, boolean afterKill, String as) {
        SimDisk disk = model.image(afterKill);
        if (isUseless(disk, name, attack)) {
            return;
        }
        byte[] sound = disk.content(name);
        attack.run(disk, name, foreign(name, afterKill), random);
        byte[] attacked = content(disk, name);
        if (!isTold(disk, as)) {
            return;
        }
        if (Arrays.equals(content(disk, name), attacked)) {
            putBack(disk, name, sound);
            isWhole(disk, as);
        }
    }

    /** Whether it was told; what isn't told is right, the newest log's end apart. */
    private boolean isTold(SimDisk disk, String as) {
        List<StorageException> told;
        try (Store store = model.open(disk)) {
            told = model.ask(store, as);
        } catch (StorageException refused) {
            assertThat(refused).as(as).hasMessageMatching("(?s).{20,}");
            refusedCount++;
            return true;
        }
        toldCount += told.size();
        return !told.isEmpty();
    }

    private void open(String name, FileAttack attack, boolean afterKill, String as) {
        SimDisk disk = model.image(afterKill);
        if (isUseless(disk, name, attack)) {
            return;
        }
        byte[] sound;
        byte[] attacked;
        try (Store store = model.open(disk)) {
            if (!disk.exists(name)) {
                return;
            }
            sound = disk.content(name);
            attack.run(disk, name, foreign(name, afterKill), random);
            attacked = content(disk, name);
            toldCount += model.ask(store, as).size();
            // a store that has written the file anew keeps what it wrote
            if (Arrays.equals(content(disk, name), attacked)) {
                putBack(disk, name, sound);
            }
        } catch (StorageException told) {
            refusedCount++;
            return;
        }
        isWhole(disk, as);
    }

    private void isWhole(SimDisk disk, String as) {
        try (Store store = model.open(disk)) {
            assertThat(model.ask(store, as)).as(as).isEmpty();
            assertThat(store.verify().errors()).as(as).isEmpty();
        }
    }

    private static byte @Nullable [] content(SimDisk disk, String name) {
        return disk.exists(name) ? disk.content(name) : null;
    }

    private static void putBack(SimDisk disk, String name, byte[] sound) {
        if (disk.exists(name)) {
            FileAttack.write(disk, name, sound);
        } else {
            disk.put(name, sound);
        }
    }
}
