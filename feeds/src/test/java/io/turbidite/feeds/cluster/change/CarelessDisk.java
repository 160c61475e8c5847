package io.turbidite.feeds.cluster.change;

import io.turbidite.core.file.Disk;
import io.turbidite.core.file.DiskFile;
import io.turbidite.core.file.ForwardingDisk;
import io.turbidite.core.file.ForwardingFile;

/** Does not sync files: a bug, to be found. */
public record CarelessDisk(Disk disk) implements ForwardingDisk {
    @Override
    public DiskFile wrap(DiskFile file) {
        return new CarelessFile(file);
    }

    @Override
    public String description() {
        return "careless " + disk.description();
    }

    private record CarelessFile(DiskFile file) implements ForwardingFile {
        @Override
        public void sync() {
            // the bug
        }
    }
}
