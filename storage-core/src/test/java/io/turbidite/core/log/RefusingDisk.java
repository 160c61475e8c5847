package io.turbidite.core.log;

import io.turbidite.core.StorageIoException;
import io.turbidite.core.file.Disk;
import io.turbidite.core.file.DiskFile;
import io.turbidite.core.file.ForwardingDisk;
import io.turbidite.core.file.ForwardingFile;

import java.lang.foreign.MemorySegment;

/**
 * A full disk that copies on write: of one large write it keeps the begin, and then refuses that
 * file's blocks for ever, those that have been written too. <em>Confined to one thread.</em>
 */
record RefusingDisk(Disk disk, int keptBytes, StringBuilder refused) implements ForwardingDisk {
    RefusingDisk(Disk disk, int keptBytes) {
        this(disk, keptBytes, new StringBuilder());
    }

    @Override
    public DiskFile wrap(DiskFile file) {
        return new RefusingFile(file);
    }

    private final class RefusingFile implements ForwardingFile {
        private final DiskFile file;

        RefusingFile(DiskFile file) {
            this.file = file;
        }

        @Override
        public DiskFile file() {
            return file;
        }

        @Override
        public void write(long fileOffset, MemorySegment source, long sourceOffset, int byteCount) {
            boolean isFirst = refused.isEmpty()
                    && byteCount > keptBytes
                    && source.asSlice(sourceOffset, byteCount)
                                    .mismatch(MemorySegment.ofArray(new byte[byteCount]))
                            >= 0;
            if (isFirst) {
                file.write(fileOffset, source, sourceOffset, keptBytes);
                refused.append(file.name());
            }
            if (file.name().contentEquals(refused)) {
                throw new StorageIoException(
                        StorageIoException.Kind.NO_SPACE, "write", file.name(), "refused", null);
            }
            file.write(fileOffset, source, sourceOffset, byteCount);
        }
    }
}
