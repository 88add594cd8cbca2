// 2 to the power of x, by the unit for special functions; 0 for minus infinity.
__device__ inline float power_of_2(float x)
{
    float power;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(x));
    return power;
}
