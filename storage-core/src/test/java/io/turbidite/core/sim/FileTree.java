package io.turbidite.core.sim;

import io.turbidite.core.StorageIoException;
import io.turbidite.core.StorageIoException.Kind;
import io.turbidite.core.file.DiskName;
import io.turbidite.core.sim.DirectoryNode.Change;

import org.jspecify.annotations.Nullable;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;

/**
 * The names of a simulated disk: directories, what they hold, and the order in which that changed.
 * <em>Confined to the disk's lock.</em>
 */
final class FileTree {
    private final DirectoryNode root = new DirectoryNode(0);
    private long nextNodeId = 1;
    private long nextChange;
    private long committedChange;

    /** The sequence that the next change of a name will have. */
    long nextChange() {
        return nextChange;
    }

    /** Changes below this sequence were taken along by a sync ({@link Profile#EXT4_LIKE}). */
    long committedChange() {
        return committedChange;
    }

    void commitJournal() {
        committedChange = nextChange;
    }

    @Nullable
    Node find(String name) {
        Node node = root;
        for (int start = 0; start <= name.length() && !name.isEmpty(); ) {
            int slash = name.indexOf('/', start);
            int end = slash < 0 ? name.length() : slash;
            if (!(node instanceof DirectoryNode directory)) {
                return null;
            }
            node = directory.seen().get(name.substring(start, end));
            start = end + 1;
        }
        return node;
    }

    Node require(OperationKind kind, String name) {
        Node node = find(name);
        if (node == null) {
            throw failure(Kind.NOT_FOUND, kind, name, "no such file or directory");
        }
        return node;
    }

    FileNode file(OperationKind kind, String name) {
        if (require(kind, name) instanceof FileNode file) {
            return file;
        }
        throw failure(Kind.IO, kind, name, "it is a directory");
    }

    DirectoryNode directory(OperationKind kind, String name) {
        if (require(kind, name) instanceof DirectoryNode directory) {
            return directory;
        }
        throw failure(Kind.IO, kind, name, "it is not a directory");
    }

    FileNode createFile(OperationKind kind, String name) {
        FileNode node = new FileNode(nextNodeId++);
        link(kind, name, node);
        node.linked();
        return node;
    }

    void createDirectory(String name) {
        link(OperationKind.CREATE_DIRECTORY, name, new DirectoryNode(nextNodeId++));
    }

    /** Gives a file a second name; the new name is as volatile as a creation. */
    void link(String name, String newName) {
        FileNode node = file(OperationKind.LINK, name);
        link(OperationKind.LINK, newName, node);
        node.linked();
    }

    /** Puts a file that needs no sync; returns what had the name. */
    @Nullable
    Node putDurable(String name, SectorMap content) {
        Node old = find(name);
        FileNode node = new FileNode(nextNodeId++, content);
        directory(OperationKind.CREATE, DiskName.parent(name))
                .putDurable(DiskName.lastPart(name), node);
        node.linked();
        return old;
    }

    /** Returns what had the name. */
    Node delete(String name) {
        Node node = require(OperationKind.DELETE, name);
        if (node instanceof DirectoryNode directory && !directory.seen().isEmpty()) {
            throw failure(Kind.IO, OperationKind.DELETE, name, "the directory is not empty");
        }
        DirectoryNode parent = directory(OperationKind.DELETE, DiskName.parent(name));
        parent.change(new Change(nextChange++, parent, DiskName.lastPart(name), null, node));
        return node;
    }

    /** Returns what had the new name. */
    @Nullable
    Node rename(String from, String to) {
        Node node = require(OperationKind.RENAME, from);
        DirectoryNode source = directory(OperationKind.RENAME, DiskName.parent(from));
        DirectoryNode target = directory(OperationKind.RENAME, DiskName.parent(to));
        Node replaced = target.seen().get(DiskName.lastPart(to));
        if (node.equals(replaced)) {
            return null;
        }
        if (replaced instanceof DirectoryNode
                || (replaced != null && node instanceof DirectoryNode)) {
            throw failure(
                    Kind.IO, OperationKind.RENAME, to, "it is a directory, or replaced by one");
        }
        String fromPart = DiskName.lastPart(from);
        String toPart = DiskName.lastPart(to);
        if (source.equals(target)) {
            source.change(new Change(nextChange++, source, fromPart, toPart, node));
        } else {
            Change added = new Change(nextChange++, target, null, toPart, node);
            target.change(added);
            source.change(new Change(nextChange++, source, fromPart, null, node).needs(added));
        }
        return replaced;
    }

    /** The names of all files, with their directories, sorted. */
    List<String> fileNames() {
        List<String> names = new ArrayList<>();
        ArrayDeque<String> directories = new ArrayDeque<>(List.of(""));
        while (!directories.isEmpty()) {
            String name = directories.remove();
            String prefix = name.isEmpty() ? "" : name + "/";
            directory(OperationKind.LIST, name)
                    .seen()
                    .forEach((part, node) ->
                            (node instanceof FileNode ? names : directories).add(prefix + part));
        }
        Collections.sort(names);
        return names;
    }

    /** A tree of its own with what {@code survivors} leaves. */
    FileTree image(Survivors survivors) {
        FileTree image = new FileTree();
        image.nextNodeId = nextNodeId;
        copyNames(root, image.root, survivors, new IdentityHashMap<>());
        return image;
    }

    static StorageIoException failure(
            Kind kind, OperationKind operation, String name, String reason) {
        StorageIoException failure =
                new StorageIoException(kind, operation.toString(), name, reason, null);
        return operation.isChanging() ? failure : failure.asOfReading();
    }

    /** A node that two names lead to, linked or left by the halves of a rename, is copied once. */
    private static void copyNames(
            DirectoryNode from,
            DirectoryNode to,
            Survivors survivors,
            IdentityHashMap<Node, Node> copies) {
        survivors.namesOf(from).forEach((name, node) -> {
            Node copy = copies.get(node);
            if (copy == null) {
                copy = switch (node) {
                    case FileNode file -> new FileNode(file.id(), survivors.contentOf(file));
                    case DirectoryNode directory -> new DirectoryNode(directory.id());
                };
                copies.put(node, copy);
                if (node instanceof DirectoryNode directory) {
                    DirectoryNode made = (DirectoryNode) copy;
                    copyNames(directory, made, survivors, copies);
                }
            }
            if (copy instanceof FileNode file) {
                file.linked();
            }
            to.putDurable(name, copy);
        });
    }

    private void link(OperationKind kind, String name, Node node) {
        if (find(name) != null) {
            throw failure(Kind.ALREADY_EXISTS, kind, name, "it exists already");
        }
        DirectoryNode parent = directory(kind, DiskName.parent(name));
        parent.change(new Change(nextChange++, parent, null, DiskName.lastPart(name), node));
    }
}
