package io.turbidite.core.sim;

import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.TestInstanceFactoryContext;
import org.junit.jupiter.api.extension.TestInstancePreConstructCallback;
import org.junit.platform.commons.support.AnnotationSupport;

import java.util.List;
import java.util.concurrent.atomic.AtomicReference;

/**
 * R18: nothing is left open. After each test, and once more after each class, no file of a {@link
 * SimDisk} or under the directory for temporary files is open that was closed before it, no thread
 * is left, and no memory off the heap is held: no arena is open and no account of a budget is
 * charged. The failure names what is left and whose it is.
 *
 * <p>JUnit finds it by a service file, as {@code junit-platform.properties} beside it says, in
 * every module that has storage-core-testing. A test that failed is not looked at: it leaves things
 * where they were.
 */
public final class LeakCheck
        implements BeforeAllCallback,
                TestInstancePreConstructCallback,
                AfterEachCallback,
                AfterAllCallback {
    private static final Namespace OURS = Namespace.create(LeakCheck.class);

    @Override
    public void beforeAll(ExtensionContext context) {
        context.getStore(OURS).put("class", new AtomicReference<>(LeakMark.take()));
    }

    @Override
    public ExtensionContextScope getTestInstantiationExtensionContextScope(ExtensionContext root) {
        return ExtensionContextScope.TEST_METHOD;
    }

    /** What the fields of a test's instance open is the test's. */
    @Override
    public void preConstructTestInstance(
            TestInstanceFactoryContext factory, ExtensionContext context) {
        context.getStore(OURS).put("test", LeakMark.take());
    }

    @Override
    public void afterEach(ExtensionContext context) {
        LeakMark before = context.getStore(OURS).get("test", LeakMark.class);
        boolean isPassedOver = isPassedOver(context);
        List<String> opened = isPassedOver ? List.of() : before.opened();
        SimFile.OPEN.clear();
        if (isPassedOver || !opened.isEmpty()) {
            // said once, or never to be said: the class answers for what comes after
            ofClass(context).set(LeakMark.take());
        }
        check(opened);
    }

    @Override
    public void afterAll(ExtensionContext context) {
        if (!isPassedOver(context)) {
            check(ofClass(context).get().opened());
        }
    }

    @SuppressWarnings("unchecked") // what beforeAll has put
    private static AtomicReference<LeakMark> ofClass(ExtensionContext context) {
        return context.getStore(OURS).get("class", AtomicReference.class);
    }

    private static void check(List<String> opened) {
        if (!opened.isEmpty()) {
            throw new AssertionError("left open: " + opened);
        }
    }

    private static boolean isPassedOver(ExtensionContext context) {
        return context.getExecutionException().isPresent()
                || AnnotationSupport.isAnnotated(context.getElement(), LeaksOnPurpose.class)
                || AnnotationSupport.isAnnotated(context.getTestClass(), LeaksOnPurpose.class);
    }
}
