package io.turbidite.core.sim;

import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.platform.commons.support.AnnotationSupport;

import java.util.List;

/**
 * R18: nothing is left open. After each test no file of a {@link SimDisk} or under the directory for
 * temporary files is open that was closed before it, and no thread is left; with {@code -Dleaks}, after
 * each class no more memory off the heap is taken than before it, once the collector has freed what it
 * answers for.
 *
 * <p>JUnit finds it by a service file in the modules whose {@code junit-platform.properties} say so. A test that failed is not looked at: it leaves things where they were.
 */
public final class LeakCheck
        implements BeforeAllCallback, BeforeEachCallback, AfterEachCallback, AfterAllCallback {
    private static final Namespace OURS = Namespace.create(LeakCheck.class);

    @Override
    public void beforeAll(ExtensionContext context) {
        context.getStore(OURS).put("class", LeakMark.take());
    }

    @Override
    public void beforeEach(ExtensionContext context) {
        context.getStore(OURS).put("test", LeakMark.take());
    }

    @Override
    public void afterEach(ExtensionContext context) {
        LeakMark before = context.getStore(OURS).get("test", LeakMark.class);
        if (before == null || isPassedOver(context)) {
            SimFile.OPEN.clear();
            return;
        }
        List<String> opened = before.opened();
        SimFile.OPEN.clear();
        if (!opened.isEmpty()) {
            throw new AssertionError("left open: " + opened);
        }
    }

    @Override
    public void afterAll(ExtensionContext context) {
        LeakMark before = context.getStore(OURS).get("class", LeakMark.class);
        // Counted for the whole process, so that another test's late freeing shows here: by request
        // only.
        boolean wanted = Boolean.getBoolean("leaks");
        long grown = before == null || !wanted || isPassedOver(context) ? 0 : before.grownBytes();
        if (grown > 0) {
            throw new AssertionError("%d bytes off the heap are not given back by the tests of %s"
                    .formatted(grown, context.getDisplayName()));
        }
    }

    private static boolean isPassedOver(ExtensionContext context) {
        return context.getExecutionException().isPresent()
                || AnnotationSupport.isAnnotated(context.getElement(), LeaksOnPurpose.class)
                || AnnotationSupport.isAnnotated(context.getTestClass(), LeaksOnPurpose.class);
    }
}
