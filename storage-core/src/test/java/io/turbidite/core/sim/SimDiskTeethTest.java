package io.turbidite.core.sim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import io.turbidite.core.StorageIoException;
import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.file.DiskFile;
import io.turbidite.core.format.Crc32c;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * A toy store with the bugs that stores have: cut at each step, each bug loses an acknowledged
 * record or recovers one that is none; without a bug nothing is lost at any step under any profile.
 */
@LeaksOnPurpose("files are open when the power is cut")
class SimDiskTeethTest {
    private static final int RECORD_COUNT = 30;
    private static final int IMAGES_PER_STEP = 4;

    /** The rarest, a recycled block that looks like the record that is due, takes some dozens. */
    private static final int RUN_COUNT_MAX = 200;

    enum Bug {
        NONE,
        ACK_BEFORE_SYNC,
        SKIP_SYNC,
        SKIP_DIRECTORY_SYNC,
        NEW_NAME_NOT_SYNCED,
        RENAME_BEFORE_SYNC,
        DELETE_BEFORE_DIRECTORY_SYNC,
        NO_CHECKSUM,
        STALE_RECORD_ACCEPTED,
        RETRY_FAILED_SYNC
    }

    private final long seed = Seeds.of("SimDiskTeethTest");

    @ParameterizedTest
    @EnumSource(Profile.class)
    void theSoundStoreLosesNothing(Profile profile) {
        for (int run = 0; run < 5; run++) {
            assertThat(failures(Bug.NONE, profile, seed + run))
                    .as(Seeds.replay("SimDiskTeethTest", seed))
                    .isEmpty();
        }
    }

    @ParameterizedTest
    @EnumSource(value = Bug.class, mode = EnumSource.Mode.EXCLUDE, names = "NONE")
    void eachBugIsCaught(Bug bug) {
        List<String> failures = new ArrayList<>();
        for (int run = 0; run < RUN_COUNT_MAX && failures.isEmpty(); run++) {
            for (Profile profile : Profile.values()) {
                failures.addAll(failures(bug, profile, seed + run));
            }
        }
        assertThat(failures)
                .as(bug + ", " + Seeds.replay("SimDiskTeethTest", seed))
                .isNotEmpty();
    }

    @Test
    void hundredsOfImagesOfALargeDiskCostLittle() {
        SimDisk disk = new SimDisk(seed, Profile.ADVERSARIAL);
        MemorySegment megabyte = MemorySegment.ofArray(randomBytes(1 << 20));
        for (int i = 0; i < 32; i++) {
            DiskFile file = disk.create("f" + i);
            file.write(0, megabyte, 0, 1 << 20);
            file.sync();
        }
        disk.syncDirectory("");
        DiskFile log = disk.open("f0");
        List<SimDisk> images = new ArrayList<>();
        disk.onOperation(step -> images.add(disk.crashImage(step.index())));
        for (int i = 0; i < 1_000; i++) {
            log.write(i * 700L, megabyte, i, 700);
            if (i % 10 == 0) {
                log.sync();
            }
        }
        assertThat(images).hasSize(1_100);
        assertThat(images.get(900).content("f31")).isEqualTo(disk.content("f31"));
        // 1,100 images of 32 MiB in a heap of at most a few GiB: they share what is synced.
        assertThatCode(() -> images.getLast().files()).doesNotThrowAnyException();
    }

    /** Runs the toy, cuts the power at each step, and says what was wrong afterwards. */
    private static List<String> failures(Bug bug, Profile profile, long seed) {
        List<String> failures = new ArrayList<>();
        SimDisk disk = new SimDisk(seed, profile);
        ToyStore store = new ToyStore(disk, bug);
        disk.onOperation(step -> {
            for (int i = 0; i < IMAGES_PER_STEP; i++) {
                SimDisk image = disk.crashImage(step.index() * IMAGES_PER_STEP + i);
                String wrong = store.check(image);
                if (!wrong.isEmpty()) {
                    failures.add(step + " image " + i + ": " + wrong);
                }
            }
        });
        store.open();
        if (bug == Bug.RETRY_FAILED_SYNC) {
            disk.fault(FaultScript.with(Fault.EIO).on(OperationKind.SYNC).call(9));
        }
        SplittableRandom random = new SplittableRandom(seed);
        for (int i = 0; i < RECORD_COUNT; i++) {
            store.append(random.nextInt(20, 1_500));
        }
        return failures;
    }

    private static byte[] randomBytes(int byteCount) {
        byte[] bytes = new byte[byteCount];
        new SplittableRandom(1).nextBytes(bytes);
        return bytes;
    }

    /**
     * Records of (number in the log, length, log, checksum, filler). Every ten records a new log
     * starts, and its number and that of the records before it go to CURRENT, by way of a new file
     * and a rename.
     */
    private static final class ToyStore {
        private static final int HEADER_BYTES = 16;

        private final SimDisk disk;
        private final Bug bug;
        private final Crc32c crc = new Crc32c();
        private DiskFile log;
        private int logNumber;
        private long end;
        private int inLog;
        private int count;
        private int acknowledged;

        @SuppressWarnings("NullAway.Init") // open() is the other half of construction
        ToyStore(SimDisk disk, Bug bug) {
            this.disk = disk;
            this.bug = bug;
        }

        void open() {
            startLog(0);
        }

        void append(int byteCount) {
            if (count % 10 == 9) {
                startLog(count);
            }
            MemorySegment record = MemorySegment.ofArray(new byte[HEADER_BYTES + byteCount]);
            record.set(Bytes.I32, 0, ++inLog);
            record.set(Bytes.I32, 4, byteCount);
            record.set(Bytes.I32, 8, bug == Bug.STALE_RECORD_ACCEPTED ? 0 : logNumber);
            record.asSlice(HEADER_BYTES).fill((byte) (count + 1));
            record.set(Bytes.I32, 12, checksum(record, 0, byteCount));
            log.write(end, record, 0, HEADER_BYTES + byteCount);
            end += HEADER_BYTES + byteCount;
            count++;
            if (bug == Bug.ACK_BEFORE_SYNC) {
                acknowledged = count;
            }
            if (bug != Bug.SKIP_SYNC) {
                sync(log);
            }
            acknowledged = count;
        }

        private void startLog(int recordCount) {
            DiskFile old = log;
            String oldName = "log." + logNumber;
            logNumber++;
            log = disk.create("log." + logNumber);
            if (bug != Bug.SKIP_DIRECTORY_SYNC && bug != Bug.NEW_NAME_NOT_SYNCED) {
                disk.syncDirectory("");
            }
            end = 0;
            inLog = 0;
            DiskFile current = disk.create("tmp");
            MemorySegment bytes = MemorySegment.ofArray(new byte[8]);
            bytes.set(Bytes.I32, 0, logNumber);
            bytes.set(Bytes.I32, 4, recordCount);
            current.write(0, bytes, 0, 8);
            if (bug != Bug.RENAME_BEFORE_SYNC) {
                sync(current);
            }
            disk.rename("tmp", "CURRENT");
            sync(current);
            current.close();
            if (bug != Bug.SKIP_DIRECTORY_SYNC && bug != Bug.DELETE_BEFORE_DIRECTORY_SYNC) {
                disk.syncDirectory("");
            }
            if (old != null) {
                old.close();
                disk.delete(oldName);
            }
            if (bug == Bug.DELETE_BEFORE_DIRECTORY_SYNC) {
                disk.syncDirectory("");
            }
        }

        private void sync(DiskFile file) {
            try {
                file.sync();
            } catch (StorageIoException e) {
                if (bug != Bug.RETRY_FAILED_SYNC) {
                    throw e;
                }
                file.sync();
            }
        }

        /** What is wrong with what can be recovered; empty if nothing. */
        String check(SimDisk image) {
            if (!image.exists("CURRENT")) {
                return acknowledged == 0 ? "" : acknowledged + " records, and no CURRENT";
            }
            MemorySegment current = MemorySegment.ofArray(image.content("CURRENT"));
            if (current.byteSize() < 8 || current.get(Bytes.I32, 0) == 0) {
                return "CURRENT is empty";
            }
            String name = "log." + current.get(Bytes.I32, 0);
            if (!image.exists(name)) {
                return name + " is missing";
            }
            int found = current.get(Bytes.I32, 4);
            MemorySegment bytes = MemorySegment.ofArray(image.content(name));
            int number = 1;
            for (long at = 0; isRecord(bytes, at, number, current.get(Bytes.I32, 0)); number++) {
                int byteCount = bytes.get(Bytes.I32, at + 4);
                for (long i = 0; i < byteCount; i++) {
                    if (bytes.get(Bytes.U8, at + HEADER_BYTES + i) != (byte) (found + 1)) {
                        return "record %d is damaged".formatted(found + 1);
                    }
                }
                at += HEADER_BYTES + byteCount;
                found++;
            }
            return found < acknowledged || found > count + 1
                    ? "%d records found, %d acknowledged, %d written"
                            .formatted(found, acknowledged, count)
                    : "";
        }

        private boolean isRecord(MemorySegment bytes, long at, int number, int expectedLog) {
            if (at + HEADER_BYTES > bytes.byteSize() || bytes.get(Bytes.I32, at) != number) {
                return false;
            }
            int byteCount = bytes.get(Bytes.I32, at + 4);
            if (byteCount < 0 || byteCount > bytes.byteSize() - at - HEADER_BYTES) {
                return false;
            }
            int salt = bug == Bug.STALE_RECORD_ACCEPTED ? 0 : expectedLog;
            return bug == Bug.NO_CHECKSUM
                    || (bytes.get(Bytes.I32, at + 8) == salt
                            && bytes.get(Bytes.I32, at + 12) == checksum(bytes, at, byteCount));
        }

        private int checksum(MemorySegment record, long at, int byteCount) {
            return crc.begin()
                    .update(record, at, 12)
                    .update(record, at + HEADER_BYTES, byteCount)
                    .value();
        }
    }
}
