package io.turbidite.it.attack;

import io.turbidite.core.file.Disk;
import io.turbidite.core.file.DiskFile;
import io.turbidite.core.sim.SimDisk;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.SplittableRandom;

/** What becomes of a file by somebody who is not the store. */
enum FileAttack {
    MISSING {
        @Override
        byte[] changed(byte[] sound, byte[] foreign, SplittableRandom random) {
            throw new IllegalStateException("there is no file");
        }
    },
    EMPTY {
        @Override
        byte[] changed(byte[] sound, byte[] foreign, SplittableRandom random) {
            return new byte[0];
        }
    },
    SHORT {
        @Override
        byte[] changed(byte[] sound, byte[] foreign, SplittableRandom random) {
            return Arrays.copyOf(sound, random.nextInt(1, Math.max(2, sound.length)));
        }
    },
    LONG {
        @Override
        byte[] changed(byte[] sound, byte[] foreign, SplittableRandom random) {
            byte[] longer = Arrays.copyOf(sound, sound.length + random.nextInt(1, 5_000));
            for (int i = sound.length; i < longer.length; i++) {
                longer[i] = (byte) random.nextInt();
            }
            return longer;
        }
    },
    FLIPPED {
        @Override
        byte[] changed(byte[] sound, byte[] foreign, SplittableRandom random) {
            byte[] flipped = sound.clone();
            flipped[random.nextInt(flipped.length)] ^= (byte) (1 << random.nextInt(8));
            return flipped;
        }
    },
    FOREIGN {
        @Override
        byte[] changed(byte[] sound, byte[] foreign, SplittableRandom random) {
            return foreign;
        }
    };

    /** The bytes that are there then. */
    abstract byte[] changed(byte[] sound, byte[] foreign, SplittableRandom random);

    /** Does it in place, so that whoever has the file open sees it; a foreign file replaces it. */
    void run(SimDisk disk, String name, byte[] foreign, SplittableRandom random) {
        if (this == MISSING) {
            disk.delete(name);
            return;
        }
        byte[] bytes = changed(disk.content(name), foreign, random);
        if (this == FOREIGN) {
            disk.put(name, bytes);
            return;
        }
        write(disk, name, bytes);
    }

    static void write(Disk disk, String name, byte[] bytes) {
        try (DiskFile file = disk.open(name)) {
            file.truncate(bytes.length);
            file.write(0, MemorySegment.ofArray(bytes), 0, bytes.length);
            file.sync();
        }
    }
}
