package io.turbidite.core.sim;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * A test that leaves things open because that is what it is about; {@link LeakCheck} passes it
 * over.
 */
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.METHOD, ElementType.TYPE})
public @interface LeaksOnPurpose {
    /** Why. */
    String value();
}
