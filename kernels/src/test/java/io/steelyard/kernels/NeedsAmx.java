package io.steelyard.kernels;

import io.steelyard.kernels.amx.Amx;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;

/** Skips a test class where the processor lacks what it tests. */
@Retention(RetentionPolicy.RUNTIME)
@ExtendWith(NeedsAmx.Condition.class)
@interface NeedsAmx {

  final class Condition implements ExecutionCondition {
    @Override
    public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
      return Amx.available()
          ? ConditionEvaluationResult.enabled("the processor has it")
          : ConditionEvaluationResult.disabled("not applicable here: no amx tier");
    }
  }
}
